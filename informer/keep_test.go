package informer_test

import (
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// What doesn't pass Keep is as if it weren't there, on every way by which an
// object can come: list, watch and relist.
func TestKeep(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "ns", "a")
		create(t, server, "ns", "b")
		setPhase(t, server, "ns", "a", "Running")
		source, err := reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{})
		if err != nil {
			t.Fatal(err)
		}
		opts.Keep = func(p pod) bool { return p.Status.Phase == "Running" }
		opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
		i := informer.New(source, opts)
		done := make(chan error, 1)
		h := newRecorder(t, "h")
		addHandler(t, i, h)
		go func() { done <- i.Run(t.Context()) }()
		t.Cleanup(func() { <-done })
		synced(t, i)
		h.wants("ADDED ns/a list")

		setPhase(t, server, "ns", "b", "Running")
		synctest.Wait()
		h.wants("ADDED ns/b watch")

		last := setPhase(t, server, "ns", "a", "Running")
		setPhase(t, server, "ns", "a", "Failed")
		synctest.Wait()
		events := h.take()
		e := events[len(events)-1]
		if e.Type != informer.Deleted || e.Reason != informer.Filtered || e.FinalStateKnown || e.Old.ResourceVersion != last.ResourceVersion {
			t.Errorf("from pass to fail: %v %s, reason %s, final state known %v, object at %s; want the last state that passed, %s",
				e.Type, e.Key, e.Reason, e.FinalStateKnown, e.Old.ResourceVersion, last.ResourceVersion)
		}
		setPhase(t, server, "ns", "a", "Succeeded") // from fail to fail
		remove(t, server, "ns", "a")                // and gone for good
		synctest.Wait()
		h.wants()
		if got := i.GetIndexer().ListKeys(); len(got) != 1 {
			t.Errorf("the store holds %v", got)
		}

		// A relist finds b changed so that it doesn't pass.
		server.CloseWatches()
		setPhase(t, server, "ns", "b", "Failed")
		server.Compact()
		time.Sleep(time.Minute)
		synctest.Wait()
		if events := h.take(); len(events) != 1 || events[0].Type != informer.Deleted || events[0].Key.Name != "b" {
			t.Errorf("a relist that finds b failing told %v", events)
		}
		if st := i.Status(); st.Filtered < 4 || st.Objects != 0 {
			t.Errorf("%d filtered, %d stored", st.Filtered, st.Objects)
		}
	})
}
