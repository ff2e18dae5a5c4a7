package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// TestRelistDecodesOnlyWhatChanged (R13): after lost history everything is listed
// again. What the store has in that very version is not decoded, nor told.
func TestRelistDecodesOnlyWhatChanged(t *testing.T) {
	const objects = 50
	for _, tt := range []struct {
		why          string
		alwaysDecode bool
		decoded      int // of the objects in the second list
	}{
		{"the two that changed", false, 2},
		{"all of them, if asked for", true, objects},
	} {
		for _, kind := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
			t.Run(tt.why+"/"+kind.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { relistDecodes(t, kind, tt.alwaysDecode, objects, tt.decoded) })
			})
		}
	}
}

func relistDecodes(t *testing.T, kind informer.QueueKind, alwaysDecode bool, objects, want int) {
	server := apisim.New()
	for i := range objects {
		create(t, server, "default", fmt.Sprintf("p-%02d", i))
	}
	decoded := 0
	source, err := reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{
		Transform: func(p pod) (pod, error) { decoded++; p.UID, p.ResourceVersion = "", ""; return p, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	pods := informer.New[*corev1.Pod](source, informer.Options[pod]{AlwaysDecode: alwaysDecode, Queue: kind})
	h := newRecorder(t, "handler")
	addHandler(t, pods, h)
	go pods.Run(t.Context())
	synctest.Wait()
	if decoded != objects || pods.Status().Reused != 0 {
		t.Fatalf("first: %d decoded, %d reused", decoded, pods.Status().Reused)
	}
	h.take()
	decoded = 0
	outage(t, server, func() {
		setPhase(t, server, "default", "p-03", "Running")
		remove(t, server, "default", "p-05")
		create(t, server, "default", "p-05")
		server.Compact()
	})
	if decoded != want || pods.Status().Reused != objects-want {
		t.Errorf("%d decoded, %d reused", decoded, pods.Status().Reused)
	}
	if got := h.lines(); len(got) != 3 { // an update, and a name taken anew
		t.Errorf("told %q", got)
	}
}
