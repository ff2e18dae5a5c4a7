package compare

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	p4Objects = 10_000
	// p4Burst stays below the 1,024 events that may wait for one of our handlers
	// before it is told differences: so each event is told, by both.
	p4Burst = 1000
)

// P4: what does one event cost between the decoder and the return of the
// handler's call: reflector, queue, store with three indexes, one handler?
//
// ns/op is by the clock, and cpu-ns/event the processor time of the whole
// process: on a machine that has other work, the second is the one to go by.
//
// in=burst sends 1,000 events at once and waits until the handler was told all;
// in=pingpong sends each event when the handler was told the one before, so it
// is latency. The events are updates of pods in a store of 10,000 that change
// no index value, as most do. Objects are made outside of what is timed; the
// collector's work on the old ones is in it, and the same for all.
//
// impl=floor/channel is an update of a map behind a lock and a call of the same
// handler: the events come off the same channel, and nothing else is done.
//
//	go test ./compare -run '^$' -bench P4 -count 10 | tee p4.txt && benchstat -col /impl p4.txt
func BenchmarkP4Event(b *testing.B) {
	list := feedPods(p4Objects)
	sameEvents(b, list)
	subjects := append(slices.Clone(pipelines), struct {
		impl  string
		start func(testing.TB, *feed) pipeline
	}{"floor/channel", startFloor})
	for _, in := range []struct {
		name string
		wait int // after how many events
	}{{"burst", p4Burst}, {"pingpong", 1}} {
		for _, s := range subjects {
			b.Run("in="+in.name+"/impl="+s.impl, func(b *testing.B) { eventBench(b, list, s.start, in.wait) })
		}
	}
}

func eventBench(b *testing.B, list []*corev1.Pod, start func(testing.TB, *feed) pipeline, wait int) {
	f := newFeed(list)
	p := start(b, f)
	defer p.stop()
	// Each call of the handler counts; the one that completes what was sent says so.
	var told, want atomic.Int64
	reached := make(chan struct{}, 1)
	synced := p.addHandler(b, func(old, _ *corev1.Pod) {
		if old != nil && told.Add(1) == want.Load() {
			reached <- struct{}{}
		}
	})
	until(synced)

	u := &updater{list: list}
	newest := make([]*corev1.Pod, 0, p4Objects) // the last event of each pod is among the last 10,000
	sent := 0
	var used time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	b.StopTimer()
	for sent < b.N {
		batch := u.next(min(p4Burst, b.N-sent))
		newest = append(newest, batch...)
		newest = newest[max(0, len(newest)-p4Objects):]
		before := processorTime(b)
		b.StartTimer()
		for len(batch) > 0 {
			n := min(wait, len(batch))
			sent += n
			want.Store(int64(sent))
			for _, pod := range batch[:n] {
				f.send(pod)
			}
			<-reached
			batch = batch[n:]
		}
		b.StopTimer()
		used += processorTime(b) - before
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/event")
	if got := told.Load(); got != int64(b.N) {
		b.Fatalf("the handler was told %d events of %d", got, b.N)
	}
	mustHold(b, p, list, newest)
}

// step is what a handler was told, to compare.
type step struct{ namespace, name, old, version string }

// sameEvents is the correctness gate: both tell the same steps in the same order.
func sameEvents(tb testing.TB, list []*corev1.Pod) {
	tb.Helper()
	var told [2][]step
	for i, s := range pipelines {
		func() {
			f := newFeed(list)
			p := s.start(tb, f)
			defer p.stop()
			done := make(chan struct{})
			events := (&updater{list: list}).next(p4Burst)
			synced := p.addHandler(tb, func(old, pod *corev1.Pod) {
				if old == nil {
					return
				}
				told[i] = append(told[i], step{pod.Namespace, pod.Name, old.ResourceVersion, pod.ResourceVersion})
				if len(told[i]) == len(events) {
					close(done)
				}
			})
			until(synced)
			for _, pod := range events {
				f.send(pod)
			}
			<-done
			mustHold(tb, p, list, events)
		}()
	}
	if !slices.Equal(told[0], told[1]) {
		tb.Fatal("the two handlers were not told the same")
	}
}
