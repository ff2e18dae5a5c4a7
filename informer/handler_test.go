package informer_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
)

// A blocked handler delays nobody. When it comes back after more than MaxLag
// events it gets one step for each key, which leads to the current state.
func TestH6_BlockedHandlerGetsTheDifference(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		for _, name := range []string{"busy", "gone", "reborn", "still"} {
			create(t, server, "default", name)
		}
		f, pods := podInformer(t, server, queue, informer.WithMaxLag(10))
		slow, fast := newRecorder(t, "slow"), newRecorder(t, "fast")
		slow.gate = make(chan struct{}, 1000)
		for range 4 {
			slow.gate <- struct{}{}
		}
		addHandler(t, pods, slow, informer.WithName("slow"))
		addHandler(t, pods, fast, informer.WithName("fast"))
		start(t, f)
		slow.take()
		fast.take()

		for n := range 100 {
			setPhase(t, server, "default", "busy", strconv.Itoa(n))
			switch n {
			case 3:
				remove(t, server, "default", "gone")
			case 50:
				remove(t, server, "default", "reborn")
				create(t, server, "default", "reborn")
			case 60:
				create(t, server, "default", "new")
			case 70:
				create(t, server, "default", "brief")
			case 80:
				remove(t, server, "default", "brief")
			}
			synctest.Wait()
		}
		if n := len(fast.take()); n != 106 {
			t.Errorf("the fast handler was told %d events, want all 106", n)
		}
		for _, s := range pods.Status().Handlers {
			switch {
			case s.Name == "fast" && (s.Lag != 0 || s.FellBehind != 0):
				t.Errorf("the fast handler's status: %+v", s)
			case s.Name == "slow" && (s.FellBehind != 1 || !s.Detached):
				t.Errorf("the slow handler's status: %+v; want it off the log", s)
			}
		}

		for range 100 {
			slow.gate <- struct{}{}
		}
		synctest.Wait()
		// One event was in its hands when it blocked: busy's first.
		events := slow.take()
		if len(events) > 7 {
			t.Errorf("the slow handler was told %d events, want one for each key", len(events))
		}
		slow.checkCurrent(server, pods)
		fast.checkCurrent(server, pods)

		// Back on the log, it is told single events again.
		setPhase(t, server, "default", "busy", "x")
		synctest.Wait()
		slow.wants("UPDATED default/busy watch")
	})
}

// The price of a blocked handler is the live objects, not the events.
func TestP8_BlockedHandlerCostsNoMemoryPerEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New(apisim.WithHistory(100))
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, informer.WithMaxLag(64))
		h := newRecorder(t, "blocked")
		h.gate = make(chan struct{}, 10)
		addHandler(t, pods, h)
		start(t, f)

		update := func(n int) {
			for i := range n {
				setPhase(t, server, "default", "a", strconv.Itoa(i))
				if i%50 == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
		}
		update(1000)
		before := liveHeap()
		update(5000)
		if grown := liveHeap() - before; grown > 1<<20 {
			t.Errorf("the heap grew by %d bytes over 5,000 updates of one object", grown)
		}
		for range 5 {
			h.gate <- struct{}{}
		}
		synctest.Wait()
		h.checkCurrent(server, pods)
	})
}

// A handler that blocked in a live event once kept every later segment alive,
// through the closure that it was being told from.
func TestH6_BlockedInALiveEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New(apisim.WithHistory(8))
		f, pods := podInformer(t, server, informer.WithMaxLag(8))
		start(t, f)
		gate := make(chan struct{})
		defer close(gate)
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) { <-gate }))
		synctest.Wait() // on the log
		create(t, server, "ns", "a")
		synctest.Wait()
		var before int64
		for i := range 200 {
			p := newPod("ns", "a", "Running")
			p.Annotations = map[string]string{"x": strings.Repeat("x", 100_000), "n": strconv.Itoa(i)}
			if _, err := server.Apply(podsGVR, p); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if i == 50 {
				before = liveHeap()
			}
		}
		if grown := liveHeap() - before; grown > 5<<20 {
			t.Errorf("the heap grew by %d kB over 150 updates of one object", grown>>10)
		}
	})
}

// What a handler missed comes in the order of keys, also where the pending
// events and the rest are put together (H4).
func TestH4_DifferenceIsInKeyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f, pods := podInformer(t, server, informer.WithMaxLag(2))
		start(t, f)
		h := newRecorder(t, "handler")
		h.gate = make(chan struct{})
		addHandler(t, pods, h)
		synctest.Wait() // on the log
		for _, name := range []string{"m", "z", "y", "x", "b", "a"} {
			create(t, server, "ns", name)
			synctest.Wait()
		}
		setPhase(t, server, "ns", "z", "Running")
		synctest.Wait()
		close(h.gate)
		synctest.Wait()
		h.wants("ADDED ns/m watch", "ADDED ns/a watch", "ADDED ns/b watch", "ADDED ns/x watch", "ADDED ns/y watch", "ADDED ns/z watch")
		h.checkCurrent(server, pods)
	})
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// All handlers of an informer share one idle worker, however many were busy.
func TestP7_IdleHandlerHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server)
		start(t, f)
		without := bubbled(t)
		gate := make(chan struct{})
		for range 100 {
			addHandler(t, pods, informer.HandlerFuncs[pod]{AddFunc: func(pod) { <-gate }})
		}
		if n := bubbled(t) - without; n != 100 {
			t.Errorf("%d goroutines for 100 calls that hang", n)
		}
		close(gate)
		if n := bubbled(t) - without; n != 1 {
			t.Errorf("%d goroutines for 100 idle handlers, want 1 for all of them", n)
		}
		// It is what tells the next event.
		create(t, server, "default", "b")
		if n := bubbled(t) - without; n != 1 {
			t.Errorf("%d goroutines after one more event", n)
		}
	})
}

func TestRemoveHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server)
		start(t, f)

		// A handler may remove itself from within its own call.
		calls := 0
		var self *informer.Registration[pod]
		ready := make(chan struct{})
		self = addHandler(t, pods, informer.HandlerFunc[pod](func(event) {
			<-ready
			calls++
			if err := pods.RemoveEventHandler(self); err != nil {
				t.Errorf("removing itself: %v", err)
			}
		}))
		close(ready)
		<-self.Done()
		create(t, server, "default", "b")
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls, want none after the removal", calls)
		}
		if err := pods.RemoveEventHandler(self); err != informer.ErrNotRegistered {
			t.Errorf("removing it again: %v", err)
		}

		// ShutDownEventHandler waits for the running call.
		release := make(chan struct{})
		returned := false
		busy := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { <-release; returned = true }))
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(release) })
		if err := pods.ShutDownEventHandler(busy); err != nil || !returned {
			t.Errorf("ShutDownEventHandler: %v, the call returned: %v", err, returned)
		}
		if busy.HasSynced() {
			t.Error("removed in the middle of the initial list, yet synced")
		}
		other, foreign := podInformer(t, server)
		defer other.Shutdown()
		if err := foreign.RemoveEventHandler(busy); err != informer.ErrNotRegistered {
			t.Errorf("another informer's registration: %v", err)
		}
	})
}

// A callback may call any method: no lock is held while it runs (H7).
func TestH7_CallbacksMayCallAnything(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		var calls atomic.Int64
		everything := func() {
			name := fmt.Sprintf("index-%d", calls.Add(1))
			if err := pods.AddIndexers(indexer.Indexers[pod]{name: indexer.KeyIndex[pod]()}); err != nil {
				t.Error(err)
			}
			pods.GetIndexer().List()
			pods.GetIndexer().ByIndex(name, "a")
			pods.Snapshot().Len()
			pods.Lister().List(metav1.ListOptions{})
			pods.Lister().Get(object.Key{Namespace: "default", Name: "a"})
			pods.HasSynced()
			pods.Status()
			pods.LastSyncResourceVersion()
			pods.WaitForSync(canceled(t.Context()))
			r, err := pods.AddEventHandler(informer.HandlerFuncs[pod]{})
			if err != nil {
				t.Error(err)
				return
			}
			r.HasSynced()
			if err := pods.RemoveEventHandler(r); err != nil {
				t.Error(err)
			}
			for range pods.Events(canceled(t.Context())) {
			}
			if err := pods.RemoveIndexer(name); err != nil {
				t.Error(err)
			}
			f.WaitForCacheSync(canceled(t.Context()))
			informer.For[pod](f)
			f.Start(t.Context())
		}
		// An index function that always changed the set of indexes would never
		// see its values used. Three times will do.
		var indexCalls atomic.Int64
		err := pods.AddIndexers(indexer.Indexers[pod]{"callback": func(p pod) ([]string, error) {
			if indexCalls.Add(1) <= 3 {
				everything()
			}
			return nil, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) { everything() }))
		start(t, f)
		setPhase(t, server, "default", "a", "Running")
		synctest.Wait()
		if indexCalls.Load() < 2 || calls.Load() < 4 {
			t.Errorf("%d calls of the index function, %d callbacks in all; want them for each of two events", indexCalls.Load(), calls.Load())
		}
	})
}

func TestResyncReplaysTheStore(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		create(t, server, "default", "b")
		f, pods := podInformer(t, server, queue, informer.WithResync(10*time.Minute))
		yes, no := newRecorder(t, "resync"), newRecorder(t, "none")
		addHandler(t, pods, yes)
		addHandler(t, pods, no, informer.WithHandlerResync(0))
		start(t, f)
		yes.take()
		no.take()
		requests := server.Stats()

		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		for _, e := range yes.events {
			if e.Old != e.New || e.Initial {
				t.Errorf("%s: a resync changes nothing", e.Key)
			}
		}
		yes.wants("UPDATED default/a resync", "UPDATED default/b resync")
		no.wants()
		after := server.Stats()
		if lists := after.Count("list", "pods") - requests.Count("list", "pods"); lists != 0 {
			t.Errorf("a resync made %d lists", lists)
		}
		create(t, server, "default", "c")
		synctest.Wait()
		yes.wants("ADDED default/c watch")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		yes.wants("UPDATED default/c resync", "UPDATED default/a resync", "UPDATED default/b resync") // on behind b
	})
}

// A handler that ends its goroutine instead of returning is told no more, and
// holds up nothing.
func TestGoexitInHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server)
		gone := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { runtime.Goexit() }))
		h := newRecorder(t, "other")
		addHandler(t, pods, h)
		start(t, f)
		<-gone.Done()
		create(t, server, "default", "b")
		synctest.Wait()
		h.checkCurrent(server, pods)
		if n := len(pods.Status().Handlers); n != 1 {
			t.Errorf("%d handlers registered, want the other one", n)
		}
	})
}

func TestHandlerFuncs(t *testing.T) {
	var told string
	h := informer.HandlerFuncs[pod]{
		AddFunc:    func(p pod) { told = "add " + p.Name },
		UpdateFunc: func(o, n pod) { told = "update " + o.Name + n.Name },
		DeleteFunc: func(p pod, known bool) { told = fmt.Sprint("delete ", p.Name, known) },
	}
	a, b := newPod("", "a", ""), newPod("", "b", "")
	for _, tt := range []struct {
		e    event
		want string
	}{
		{event{Type: informer.Added, New: a}, "add a"},
		{event{Type: informer.Updated, Old: a, New: b}, "update ab"},
		{event{Type: informer.Deleted, Old: a, FinalStateKnown: true}, "delete atrue"},
	} {
		h.HandleEvent(tt.e)
		if told != tt.want {
			t.Errorf("%s: %q, want %q", tt.e.Type, told, tt.want)
		}
		informer.HandlerFuncs[pod]{}.HandleEvent(tt.e) // nil functions are skipped
	}
}
