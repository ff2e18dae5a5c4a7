package contract

import (
	"slices"
	"time"

	"informer.example/apisim/fault"
)

func watchClauses() []*clause {
	// resumed is a clause about a watch that fails once, after which the next
	// one goes on where it ended.
	resumed := func(id, sentence string, f fault.Fault) *clause {
		return &clause{id: id, sentence: sentence, needs: []Capability{Watch}, test: func(w *world) {
			w.create("a", "b")
			w.sync()
			began := time.Now()
			w.fault(id, w.faults.On(fault.Watch).Times(1), f)
			w.closeWatches()
			w.pass(time.Minute)
			w.update("a", "b", "a")
			w.delete("b")
			w.settle()
			w.check(w.asked(fault.Sync, began) == 0, "it asked for the state %d times", w.asked(fault.Sync, began))
			w.check(w.rec.count() == 6, "2 additions, 3 updates, 1 deletion; %s", show(w.rec.all()))
		}}
	}
	return []*clause{
		resumed("watch-broken", "After a watch whose connection broke the next one goes on, without a new list, and nothing is lost or told twice.", fault.BreakAfter(1)),
		resumed("watch-throttled", "So it does after a watch that the server ended with 429.", fault.ErrorAfter(1, fault.StatusFor(429))),
		resumed("watch-internal", "So it does after a watch that the server ended with 500.", fault.ErrorAfter(1, fault.StatusFor(500))),
		resumed("watch-unavailable", "So it does when a watch is refused with 503.", fault.Refuse(fault.StatusFor(503), 0)),
		{id: "watch-expired", sentence: "A watch whose version the server no longer has costs one new list.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				began := time.Now()
				w.fault("one watch ends with 410", w.faults.On(fault.Watch).Times(1), fault.ErrorAfter(0, fault.StatusFor(410)))
				w.closeWatches()
				w.update("a")
				w.delete("b")
				w.settle()
				w.check(w.asked(fault.Sync, began) == 1, "it asked for the state %d times", w.asked(fault.Sync, began))
			}},
		{id: "watch-replayed", sentence: "An event that a server sends again is not told again, and the store doesn't go back.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				w.fault("a watch sends its first 3 events again", w.faults.On(fault.Watch), fault.Replay(3))
				w.closeWatches()
				w.pass(time.Minute)
				w.update("a", "b", "a", "b")
				w.settle()
				w.check(w.rec.count() == 6, "2 additions, 4 updates; %s", show(w.rec.all()))
			}},
		{id: "watch-unreadable", sentence: "An event that can't be read loses nothing: the present state is told in the end.",
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				w.fault("the second event of a watch is garbage", w.faults.On(fault.Watch).Times(1), fault.BadFrame(1, fault.Garbage))
				w.closeWatches()
				w.pass(time.Minute)
				w.update("a", "b", "a")
				w.delete("b")
				w.settle()
			}},
		{id: "watch-silent", sentence: "A watch that stays silent past the time it was asked for is given up, and what was missed is told.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.fault("one watch is accepted and stays silent for ever", w.faults.On(fault.Watch).Times(1), fault.Silence())
				w.closeWatches()
				w.pass(time.Minute)
				w.update("a")
				w.check(w.await(time.Hour, func() bool { return equal(w.store(), w.truth()) }), "an hour later the store is %v, the server %v", w.store(), w.truth())
				w.settle()
			}},
		{id: "bookmark-resume", sentence: "A bookmark moves the version at which the next watch begins: what is older may be forgotten without a new list.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.do("the server is written to elsewhere")
				w.server.Cluster().Bump(1000)
				w.pass(5 * time.Minute)
				began := time.Now()
				w.do("the server forgets its history")
				w.server.Compact()
				w.closeWatches()
				w.pass(time.Minute)
				w.update("a")
				w.settle()
				w.check(w.asked(fault.Sync, began) == 0, "it asked for the state %d times", w.asked(fault.Sync, began))
			}},
	}
}

func listClauses() []*clause {
	return []*clause{
		{id: "watchlist-unknown", sentence: "A server that doesn't know watch-lists is asked for lists, and for no watch-list again.",
			test: func(w *world) {
				w.create("a", "b")
				w.noWatchLists()
				w.sync()
				w.away(func() { w.delete("a") })
				w.settle()
				w.check(w.asked(fault.WatchList, w.began) <= 1, "it asked for a watch-list %d times", w.asked(fault.WatchList, w.began))
			}},
		{id: "watchlist-pace", sentence: "A watch-list that ends before its state is whole is asked for again at a pace: at most 30 times in the first minute.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.fault("each watch-list ends cleanly behind 2 objects", w.faults.On(fault.WatchList), fault.EndAfter(2))
				w.start()
				w.pass(time.Minute)
				n := w.asked(fault.Sync, w.began)
				w.check(n <= 30, "%d requests within a minute", n)
			}},
		{id: "list-repeated", sentence: "An object that a list has twice is told once, in its newest version.",
			test: func(w *world) {
				w.create("a", "b")
				w.noWatchLists()
				w.fault("a list has its first object once more, in an older version", w.faults.On(fault.List), fault.RepeatItem(false))
				w.sync()
				w.settle()
				w.check(w.rec.count() == 2, "2 objects; %s", show(w.rec.all()))
			}},
		{id: "list-unreadable", sentence: "An object that can't be decoded costs only itself: the others of the list are stored and told.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.noWatchLists()
				w.fault("the second object of a list has text for its spec", w.faults.On(fault.List), fault.EditList(func(p *fault.Page) {
					if len(p.Items) > 1 {
						p.Items[1] = []byte(`{"metadata":{"namespace":"default","name":"b","uid":"u","resourceVersion":"102"},"spec":"text"}`)
					}
				}))
				w.start()
				w.until("it has synced", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
				keys := mapped([]string{"a", "c"}, fullKey)
				w.check(slices.Equal(w.stored(), keys), "the store holds %v", w.store())
			}},
		{id: "list-pages", sentence: "A list whose next page the server no longer has is made anew, and nothing of the first one stays behind.",
			test: func(w *world) {
				w.create(names(510)...)
				w.noWatchLists()
				w.fault("once, the token of the second page has expired", w.faults.On(fault.List).Page(2).Times(1), fault.Expired(""))
				w.start()
				w.until("it has synced", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
				w.settle()
				w.check(w.rec.count() == 510, "510 objects, %d calls", w.rec.count())
			}},
	}
}

func versionClauses() []*clause {
	return []*clause{
		{id: "version-visible", sentence: "The store says which of the server's versions it stands for, and a bookmark moves it.", needs: []Capability{Versions, Watch},
			test: func(w *world) {
				w.create("a", "b")
				w.make()
				x, ok := w.subject.(Versioned)
				if !ok {
					w.lacks("ResourceVersion")
				}
				w.sync()
				w.until("it is at the list's version", func() bool { return number(x.ResourceVersion()) >= 102 })
				w.update("a")
				w.settle()
				w.check(x.ResourceVersion() == "103", "it says %q", x.ResourceVersion())
				w.delete("b")
				w.settle()
				w.check(x.ResourceVersion() == "104", "it says %q", x.ResourceVersion())
				w.do("the server is written to elsewhere")
				w.server.Cluster().Bump(1000)
				w.until("it is at the bookmark's version", func() bool { return number(x.ResourceVersion()) >= 1104 })
			}},
		{id: "version-first", sentence: "When a handler is told something, the store's version is at least that.", needs: []Capability{Versions, Watch},
			test: func(w *world) {
				w.create("a", "b")
				w.make()
				x, ok := w.subject.(Versioned)
				if !ok {
					w.lacks("ResourceVersion")
				}
				behind := ""
				w.rec.hook = func(_ int, e told) {
					if number(x.ResourceVersion()) < number(e.rv) {
						behind = e.String() + " was told when the store was at version " + x.ResourceVersion()
					}
				}
				w.sync()
				w.update("a", "b")
				w.settle()
				w.delete("b")
				w.settle()
				w.check(behind == "", "%s", behind)
			}},
	}
}

// noWatchLists makes the server one that doesn't know them.
func (w *world) noWatchLists() {
	w.fault("the server doesn't know watch-lists", w.faults.On(fault.WatchList), fault.Refuse(fault.StatusFor(422), 0))
}

// stored returns the keys in the store, in order.
func (w *world) stored() []string {
	var keys []string
	for k := range w.store() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
