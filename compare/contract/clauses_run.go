package contract

import (
	"time"

	"informer.example/apisim/fault"
)

func resumeClauses() []*clause {
	return []*clause{
		{id: "resume-closed", sentence: "After a watch that ended cleanly the next one goes on, without a new list, and nothing is lost or told twice.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.update("a")
				w.pass(time.Minute)
				began := time.Now()
				w.closeWatches()
				w.update("a", "a")
				w.settle()
				w.check(w.asked(fault.Sync, began) == 0, "it asked for the state %d times", w.asked(fault.Sync, began))
				w.check(w.rec.count() == 4, "an addition and 3 updates; %s", show(w.rec.all()))
			}},
		{id: "resume-short", sentence: "So it does after a watch that ended at once and empty.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a")
				w.sync()
				began := time.Now()
				w.fault("one watch ends at once", w.faults.On(fault.Watch).Times(1), fault.EndAfter(0))
				w.closeWatches()
				w.pass(time.Minute)
				w.update("a")
				w.settle()
				w.check(w.asked(fault.Sync, began) == 0, "it asked for the state %d times", w.asked(fault.Sync, began))
			}},
		{id: "bookmark-silent", sentence: "Bookmarks are neither told nor stored.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.server.Cluster().Bump(1000)
				w.pass(5 * time.Minute)
				w.check(w.rec.count() == 1 && len(w.subject.List()) == 1, "%s; the store holds %v", show(w.rec.all()), w.store())
			}},
		{id: "pace-refused", sentence: "A server that refuses is asked again at a pace: at most 30 times in the first minute.",
			test: func(w *world) {
				w.fault("everything is 500", w.faults.On(fault.Any), fault.Refuse(fault.StatusFor(500), 0))
				w.start()
				w.pass(time.Minute)
				n := w.asked(fault.Any, w.began)
				w.check(n > 1 && n <= 30, "%d requests within a minute", n)
			}},
	}
}

func handlerClauses() []*clause {
	return []*clause{
		{id: "late-join", sentence: "A handler that joins late is told each object of the store as an initial addition, then what changes, and syncs by itself.", needs: []Capability{ManyHandlers},
			test: func(w *world) {
				w.create("a", "b", "c")
				w.sync()
				late := &recorder{}
				reg := w.addHandler(late)
				w.until("the late handler has synced", reg.HasSynced)
				for _, e := range late.all() {
					w.check(e.typ == "ADDED" && e.initial, "%v", e)
				}
				w.check(late.count() == 3, "3 objects; %s", show(late.all()))
				w.update("a")
				w.delete("b")
				w.settle()
				w.check(equal(late.state(), w.truth()) && len(late.illegal) == 0, "%s", show(late.all()))
			}},
		{id: "late-join-load", sentence: "Replaying what a late handler was told gives the store, also when it joins while much changes.", needs: []Capability{ManyHandlers},
			test: func(w *world) {
				w.create(names(20)...)
				w.sync()
				late := &recorder{}
				for i := range 5 {
					w.update(names(20)...)
					if i == 2 {
						w.addHandler(late)
					}
					w.delete(names(3)...)
					w.create(names(3)...)
				}
				w.settle()
				w.check(len(late.illegal) == 0, "%v", late.illegal)
				w.check(equal(late.state(), w.truth()), "server: %v\ntold:   %v", w.truth(), late.state())
			}},
		{id: "join-within", sentence: "A handler can be added by a call of another.", needs: []Capability{ManyHandlers},
			test: func(w *world) {
				w.create("a", "b")
				w.make()
				other := &recorder{}
				var err error
				w.rec.hook = func(n int, _ told) {
					if n == 1 {
						_, err = w.subject.AddHandler(other)
					}
				}
				w.sync()
				w.must(err, "adding a handler within a call")
				w.update("a")
				w.settle()
				w.until("the other was told the state", func() bool { return equal(other.state(), w.truth()) })
			}},
		{id: "slow-alone", sentence: "A handler that blocks holds up neither the store nor another handler.", needs: []Capability{ManyHandlers},
			test: func(w *world) {
				w.create("a")
				w.sync()
				wait, _ := w.gate()
				w.addHandler(&recorder{hook: func(int, told) { wait() }})
				w.do("it blocks in its first call")
				w.update("a")
				w.create("b")
				w.settle()
			}},
		{id: "slow-present", sentence: "A handler that was slow is told the present state in the end.",
			test: func(w *world) {
				w.create("a", "b")
				w.make()
				wait, open := w.gate()
				w.rec.hook = func(n int, _ told) {
					if n == 2 {
						wait()
					}
				}
				w.do("the handler blocks in its second call")
				w.start()
				w.pass(time.Minute)
				w.update("a", "a", "b")
				w.delete("b")
				w.pass(time.Minute)
				open()
				w.settle()
			}},
		{id: "remove", sentence: "Once a handler is removed no call of it starts; the others are told on.", needs: []Capability{ManyHandlers},
			test: func(w *world) {
				w.create("a")
				w.sync()
				wait, open := w.gate()
				other := &recorder{hook: func(int, told) { wait() }}
				reg := w.addHandler(other)
				w.until("its first call runs", func() bool { return other.count() == 1 })
				w.update("a", "a")
				w.pass(time.Second)
				removed := make(chan error, 1)
				go func() { removed <- reg.Remove() }()
				w.do("it is removed while its call runs")
				w.pass(time.Second)
				w.check(len(removed) == 0, "Remove returned while a call was running")
				open()
				w.must(<-removed, "Remove")
				n := other.count()
				w.update("a")
				w.settle()
				w.check(other.count() == n, "after Remove had returned: %s", show(other.since(n)))
			}},
		{id: "resync", sentence: "A resync tells each object again as an update that changes nothing, and asks the server nothing.", needs: []Capability{Resyncs},
			test: func(w *world) {
				w.config.Resync = time.Minute
				w.create("a", "b")
				w.sync()
				began, n := time.Now(), w.rec.count()
				w.pass(150 * time.Second)
				w.check(w.asked(fault.Sync, began) == 0, "it asked for the state")
				seen := map[string]bool{}
				for _, e := range w.rec.since(n) {
					seen[e.key] = true
					w.check(e.typ == "UPDATED" && e.oldRV == e.rv, "%v", e)
				}
				w.check(len(seen) == 2, "%s", show(w.rec.since(n)))
			}},
		{id: "resync-late", sentence: "So it is with a handler that joined late.", needs: []Capability{Resyncs, ManyHandlers},
			test: func(w *world) {
				w.config.Resync = time.Minute
				w.create("a", "b")
				w.sync()
				late := &recorder{}
				w.addHandler(late)
				w.pass(150 * time.Second)
				n := 0
				for _, e := range late.all() {
					if e.typ == "UPDATED" && e.oldRV == e.rv {
						n++
					}
				}
				w.check(n >= 2 && len(late.illegal) == 0, "%s", show(late.all()))
			}},
	}
}

func stopClauses() []*clause {
	// stopped checks that Run returns at once and leaves nothing.
	stopped := func(w *world, before int) {
		d := w.stop()
		w.check(d <= 50*time.Millisecond, "Run took %v to return", d)
		left := bubbled()
		if len(left) > before {
			w.failf("Run has returned, and a goroutine is left:\n%s", left[len(left)-1])
		}
	}
	return []*clause{
		{id: "stop-watching", sentence: "When its context ends Run returns at once, no goroutine is left, and nothing is told any more.",
			test: func(w *world) {
				before := len(bubbled())
				w.create("a")
				w.sync()
				stopped(w, before)
				n := w.rec.count()
				w.update("a")
				w.pass(time.Hour)
				w.check(w.rec.count() == n, "%s", show(w.rec.since(n)))
			}},
		{id: "stop-waiting", sentence: "So it does while it waits after failures.",
			test: func(w *world) {
				before := len(bubbled())
				w.fault("everything is 429", w.faults.On(fault.Any), fault.Overloaded(0))
				w.start()
				w.pass(100 * time.Second)
				stopped(w, before)
			}},
		{id: "run-once", sentence: "A second Run returns an error and starts nothing.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				n := w.asked(fault.Any, w.began)
				second := make(chan error, 1)
				go func() { second <- w.subject.Run(timeout(w, time.Hour)) }()
				w.pass(time.Second)
				w.check(len(second) == 1, "the second Run goes on")
				w.check(<-second != nil, "the second Run returned no error")
				w.check(w.asked(fault.Any, w.began) == n, "it made requests")
			}},
		{id: "stop-add", sentence: "A handler that is added after the end is refused.",
			test: func(w *world) {
				w.sync()
				w.stop()
				_, err := w.subject.AddHandler(&recorder{})
				w.check(err != nil, "it was added, and will never be told anything")
			}},
	}
}
