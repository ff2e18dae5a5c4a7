package informer_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// gated is a recorder whose every call waits for the gate to be closed.
func gated(t *testing.T, name string) *recorder {
	r := newRecorder(t, name)
	r.gate = make(chan struct{})
	return r
}

// A Latest handler is told one step for each key, to what is newest, in the
// order in which the keys first changed. What came and went is not told.
func TestLatestCoalescesByKey(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		for _, name := range []string{"busy", "gone", "reborn", "first", "back"} {
			create(t, server, "ns", name)
		}
		f, pods := podInformer(t, server, queue)
		start(t, f)
		h := newRecorder(t, "latest")
		h.gate = make(chan struct{}, 100)
		for range 5 {
			h.gate <- struct{}{}
		}
		addHandler(t, pods, h, informer.WithDelivery(informer.Latest))
		synctest.Wait()
		h.take() // the initial list
		setPhase(t, server, "ns", "first", "Running")
		synctest.Wait() // in its hands, where it blocks
		steps := []func(){
			func() { setPhase(t, server, "ns", "reborn", "Running") },
			func() { remove(t, server, "ns", "reborn") },
			func() { setPhase(t, server, "ns", "busy", "1") },
			func() { create(t, server, "ns", "brief") },
			func() { remove(t, server, "ns", "brief") },
			func() { setPhase(t, server, "ns", "busy", "2") },
			func() { create(t, server, "ns", "reborn") },
			func() { remove(t, server, "ns", "gone") },
			func() { setPhase(t, server, "ns", "busy", "3") },
			func() { setPhase(t, server, "ns", "first", "Failed") },
		}
		for _, step := range steps {
			step()
			synctest.Wait()
		}
		if s := pods.Status().Handlers[0]; s.Lag != 11 || s.FellBehind != 0 || s.Delivery != informer.Latest {
			t.Errorf("ten events wait, none told: %+v", s)
		}
		h.gate <- struct{}{} // what was in its hands
		synctest.Wait()
		if s := pods.Status().Handlers[0]; s.Lag != 4 {
			t.Errorf("three keys wait beside the one in its hands: %+v", s)
		}
		setPhase(t, server, "ns", "busy", "4") // newer than what it has coalesced
		synctest.Wait()
		for range 99 {
			h.gate <- struct{}{}
		}
		synctest.Wait()
		events := h.take()
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprintf("%s %s", e.Type, e.Key.Name))
			if e.Key.Name == "busy" && e.New.Status.Phase != "4" {
				t.Errorf("busy was told as %s, which is not the newest", e.New.Status.Phase)
			}
			if e.Type == informer.Deleted && !e.FinalStateKnown {
				t.Errorf("%s: its deletion was seen, so its final state is known", e.Key)
			}
		}
		want := "[UPDATED first DELETED reborn ADDED reborn UPDATED busy DELETED gone UPDATED first]"
		if fmt.Sprint(got) != want {
			t.Errorf("told %v, want %s", got, want)
		}
		h.checkCurrent(server, pods)
	})
}

// Also the initial list is told in the newest form, and what is gone by the
// time of its call is not told at all.
func TestLatestInitialListIsNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for _, name := range []string{"a", "b", "c", "d"} {
			create(t, server, "ns", name)
		}
		f, pods := podInformer(t, server)
		start(t, f)
		h := gated(t, "latest")
		r := addHandler(t, pods, h, informer.WithDelivery(informer.Latest))
		synctest.Wait() // a is in its hands
		setPhase(t, server, "ns", "a", "Running")
		setPhase(t, server, "ns", "c", "Running")
		remove(t, server, "ns", "d")
		create(t, server, "ns", "e")
		synctest.Wait()
		close(h.gate)
		synctest.Wait()
		events := h.take()
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprintf("%s %s %s %v", e.Type, e.Key.Name, e.New.Status.Phase, e.Initial))
		}
		want := "[ADDED a Pending true ADDED b Pending true ADDED c Running true UPDATED a Running false ADDED e Pending false]"
		if fmt.Sprint(got) != want {
			t.Errorf("told %v\nwant %s", got, want)
		}
		h.checkCurrent(server, pods)
		if !r.HasSynced() {
			t.Error("not synced after all of it")
		}
	})
}

// More than MaxLag events during one call take a Latest handler off the log,
// with all that it had coalesced before; so does a new list.
func TestLatestFallsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f, pods := podInformer(t, server)
		start(t, f)
		h := newRecorder(t, "latest")
		h.gate = make(chan struct{}, 1000)
		addHandler(t, pods, h, informer.WithDelivery(informer.Latest), informer.WithHandlerMaxLag(5))
		synctest.Wait()
		for _, name := range []string{"z", "y", "x", "w"} {
			create(t, server, "ns", name)
			synctest.Wait()
		}
		h.gate <- struct{}{} // y, x and w are coalesced
		synctest.Wait()
		for n := range 20 {
			setPhase(t, server, "ns", "z", strconv.Itoa(n))
			synctest.Wait()
			if n == 10 {
				remove(t, server, "ns", "x")
			}
		}
		if s := pods.Status().Handlers[0]; s.FellBehind != 1 || !s.Detached {
			t.Errorf("more than five events during one call: %+v", s)
		}
		for range 100 {
			h.gate <- struct{}{}
		}
		synctest.Wait()
		h.wants("ADDED ns/z watch", "ADDED ns/y watch", "ADDED ns/w watch", "UPDATED ns/z watch")
		h.checkCurrent(server, pods)
	})
}

// A Block handler that is more than MaxLag behind stops the store, and nobody
// who reads. It is told every event.
func TestBlockHoldsTheStore(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		f, pods := podInformer(t, server, queue)
		start(t, f)
		h, other := newRecorder(t, "block"), newRecorder(t, "other")
		h.gate = make(chan struct{}, 1000)
		reg := addHandler(t, pods, h, informer.WithDelivery(informer.Block), informer.WithHandlerMaxLag(2))
		addHandler(t, pods, other)
		synctest.Wait()
		for n := range 10 {
			create(t, server, "ns", strconv.Itoa(n))
			synctest.Wait()
		}
		// One is in its hands and two wait: the commit of the third filled it up.
		if n := pods.Snapshot().Len(); n != 3 {
			t.Errorf("the store has %d objects, want 3: it is held up", n)
		}
		if n := len(other.take()); n != 3 {
			t.Errorf("the other handler was told %d events, want 3", n)
		}
		s := reg.Status()
		if s.Lag != 3 || s.FellBehind != 0 || pods.Status().QueueDepth == 0 {
			t.Errorf("handler %+v, queue %d", s, pods.Status().QueueDepth)
		}
		h.gate <- struct{}{} // one call returns, one more commit
		synctest.Wait()
		if n := pods.Snapshot().Len(); n < 4 {
			t.Errorf("the store has %d objects after one call has returned", n)
		}
		for n := range 50 {
			setPhase(t, server, "ns", "0", strconv.Itoa(n))
		}
		for range 500 {
			h.gate <- struct{}{}
		}
		synctest.Wait()
		if n := len(h.take()); n != 60 {
			t.Errorf("told %d events, want all 60", n)
		}
		h.checkCurrent(server, pods)
		other.checkCurrent(server, pods)
	})
}

// Removing a Block handler releases the store at once, also while its call
// hangs; and so does the end of Run.
func TestBlockIsReleased(t *testing.T) {
	for _, how := range []string{"remove", "stop"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apisim.New()
				f, pods := podInformer(t, server)
				start(t, f)
				release := make(chan struct{})
				reg := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { <-release }),
					informer.WithDelivery(informer.Block), informer.WithHandlerMaxLag(1))
				other := newRecorder(t, "other")
				addHandler(t, pods, other)
				synctest.Wait()
				for n := range 5 {
					create(t, server, "ns", strconv.Itoa(n))
					synctest.Wait()
				}
				other.take()
				before := time.Now()
				if how == "remove" {
					if err := pods.RemoveEventHandler(reg); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					other.checkCurrent(server, pods)
					close(release)
				} else {
					go f.Shutdown()
					synctest.Wait() // waits for the call, and for nothing else
					if err := reg.Err(); err != informer.ErrStopped {
						t.Errorf("the handler has ended with %v", err)
					}
					close(release)
				}
				<-reg.Done()
				if passed := time.Since(before); passed != 0 {
					t.Errorf("it took %v", passed)
				}
			})
		})
	}
}

// A policy that doesn't exist is refused where it is given.
func TestUnknownPolicies(t *testing.T) {
	_, pods := podInformer(t, apisim.New())
	for _, opt := range []informer.HandlerOption{informer.WithDelivery(9), informer.WithPanicPolicy(9)} {
		if r, err := pods.AddEventHandler(informer.HandlerFuncs[pod]{}, opt); err == nil {
			t.Errorf("registered: %+v", r.Status())
		}
	}
}
