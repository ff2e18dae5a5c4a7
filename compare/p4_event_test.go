package compare

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// P4: what one event allocates, from the decoder to the handler's return: the
// store's entry, and for each commit the list of its changes and its place in
// the log. Index functions of one value allocate once in 64 calls.
func TestP4EventAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	list := feedPods(1000)
	for _, tt := range []struct {
		name  string
		burst int
		most  float64 // an event
	}{
		{"burst", 500, 1.5},
		{"pingpong", 1, 3.2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(list)
			p := startOurPipeline(t, f)
			defer p.stop()
			told := make(chan struct{}, tt.burst)
			until(p.addHandler(t, func(old, _ *corev1.Pod) {
				if old != nil {
					told <- struct{}{}
				}
			}))
			const events = 10_000
			made := (&updater{list: list}).next(3 * events)
			got := testing.AllocsPerRun(1, func() {
				batch := made[:events]
				made = made[events:]
				for i := 0; i < events; i += tt.burst {
					for _, pod := range batch[i : i+tt.burst] {
						f.send(pod)
					}
					for range tt.burst {
						<-told
					}
				}
			}) / events
			if got > tt.most {
				t.Errorf("%.2f allocations an event, want at most %.1f", got, tt.most)
			}
			t.Logf("%.2f allocations an event", got)
		})
	}
}
