package contract

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/apisim/fault"
)

// names returns n names in the order of keys.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("p%03d", i)
	}
	return all
}

func initialClauses() []*clause {
	return []*clause{
		{id: "initial-once", sentence: "A handler is told each object of the first list once, as an addition that is marked initial.",
			test: func(w *world) {
				w.create(names(20)...)
				w.sync()
				w.settle()
				events := w.rec.all()
				w.check(len(events) == 20, "20 objects, %d calls; %s", len(events), show(events))
				for _, e := range events {
					w.check(e.typ == "ADDED" && e.initial, "%v", e)
				}
				w.converge()
			}},
		{id: "initial-order", sentence: "The first list is told in the order of keys, which is the server's.",
			test: func(w *world) {
				w.create(names(20)...)
				w.create("a-b/x", "a/x", "kube/x")
				w.sync()
				var keys, want []string
				for _, e := range w.rec.all() {
					keys = append(keys, e.key)
				}
				want = append([]string{"a-b/x", "a/x"}, mapped(names(20), fullKey)...)
				want = append(want, "kube/x")
				w.check(slices.Equal(keys, want), "told: %v\nwant: %v", keys, want)
			}},
		{id: "initial-mark", sentence: "What is created after the first list is not marked initial.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.create("b")
				w.settle()
				events := w.rec.about("b")
				w.check(len(events) == 1 && events[0].typ == "ADDED" && !events[0].initial, "%s", show(events))
			}},
		{id: "initial-empty", sentence: "Where there is no object, it syncs, store and handler, and tells nothing.",
			test: func(w *world) {
				w.sync()
				w.check(w.rec.count() == 0, "%s", show(w.rec.all()))
				w.check(len(w.subject.List()) == 0, "the store holds %v", w.store())
			}},
		{id: "initial-whole", sentence: "When a handler is told the first object, the store holds the whole list.",
			test: func(w *world) {
				w.create(names(20)...)
				w.make()
				first := -1
				w.rec.hook = func(n int, _ told) {
					if n == 1 {
						first = len(w.subject.List())
					}
				}
				w.sync()
				w.check(first == 20, "at the first call the store held %d of 20 objects", first)
			}},
		{id: "initial-cut", sentence: "A first list that breaks off tells nothing, and is not taken for the state.",
			test: func(w *world) {
				w.create(names(6)...)
				w.fault("the first list breaks off behind 3 objects", w.faults.On(fault.List).Times(1), fault.CutList(fault.BetweenItems, 3, false))
				w.fault("the first watch-list breaks off behind 3 objects", w.faults.On(fault.WatchList).Times(1), fault.BreakAfter(3))
				w.make()
				least := 6
				w.rec.hook = func(int, told) { least = min(least, len(w.subject.List())) }
				w.start()
				w.await(patience, func() bool {
					if w.subject.HasSynced() {
						least = min(least, len(w.subject.List()))
					}
					return w.reg.HasSynced()
				})
				w.settle()
				w.check(least == 6, "it was synced, or told something, when the store held %d of 6 objects", least)
				w.check(w.rec.count() == 6, "6 objects, %d calls; %s", w.rec.count(), show(w.rec.all()))
			}},
		{id: "initial-gap", sentence: "What changes between the first list and the watch is told.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.fault("each watch is opened 10 s late", w.faults.On(fault.Watch), fault.Delay(10*time.Second))
				w.start()
				w.until("it has synced", func() bool { return w.reg.HasSynced() })
				w.update("a")
				w.delete("b")
				w.create("d")
				w.settle()
			}},
	}
}

func syncClauses() []*clause {
	return []*clause{
		{id: "sync-store", sentence: "HasSynced is false until the first list has come, and the store is whole when it turns true.",
			test: func(w *world) {
				w.create(names(5)...)
				w.fault("the state is sent a minute late", w.faults.On(fault.Sync), fault.Delay(time.Minute))
				w.start()
				w.pass(50 * time.Second)
				w.check(!w.subject.HasSynced() && !w.reg.HasSynced(), "synced before the server had answered: store %v, handler %v", w.subject.HasSynced(), w.reg.HasSynced())
				seen := -1
				w.until("the store has synced", func() bool {
					if w.subject.HasSynced() {
						seen = len(w.subject.List())
					}
					return seen >= 0
				})
				w.check(seen == 5, "when it had synced, the store held %d of 5 objects", seen)
			}},
		{id: "sync-handler", sentence: "A handler has synced when the last call for the first list has returned, and not before.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.make()
				wait, open := w.gate()
				w.rec.hook = func(n int, _ told) {
					if n == 3 {
						wait()
					}
				}
				w.start()
				w.until("the third call runs", func() bool { return w.rec.count() == 3 })
				w.pass(time.Minute)
				w.check(!w.reg.HasSynced(), "it reports synced while the call for the last object is running")
				w.do("the third call returns")
				open()
				w.until("the handler has synced", w.reg.HasSynced)
			}},
		{id: "sync-store-alone", sentence: "The store syncs without waiting for handlers.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.make()
				wait, _ := w.gate()
				w.rec.hook = func(int, told) { wait() }
				w.do("the handler blocks in its first call")
				w.start()
				w.pass(time.Minute)
				w.check(w.subject.HasSynced(), "a minute later the store had not synced")
				w.check(!w.reg.HasSynced(), "the handler has synced within its first call")
			}},
		{id: "sync-stays", sentence: "What has synced stays so, through an outage and a new list.",
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				lost := ""
				look := func() {
					if !w.subject.HasSynced() || !w.reg.HasSynced() {
						lost = fmt.Sprintf("store %v, handler %v", w.subject.HasSynced(), w.reg.HasSynced())
					}
				}
				w.away(func() {
					w.update("a")
					for range 60 {
						w.pass(time.Second)
						look()
					}
				})
				w.await(patience, func() bool { look(); return equal(w.store(), w.truth()) })
				w.check(lost == "", "synced turned false again: %s", lost)
			}},
		{id: "sync-refused", sentence: "While the server refuses, nothing has synced; when it doesn't any more, everything does by itself.",
			test: func(w *world) {
				w.create("a")
				w.fault("everything is 403", w.faults.On(fault.Any), fault.Refuse(fault.StatusFor(403), 0))
				w.start()
				w.pass(5 * time.Minute)
				w.check(!w.subject.HasSynced() && !w.reg.HasSynced(), "it reports synced though every request was refused")
				w.faults.Clear()
				w.do("the server allows it")
				w.until("it has synced", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
			}},
		{id: "sync-why", sentence: "A wait for the sync that ends in vain says why the server refused.", needs: []Capability{Explains},
			test: func(w *world) {
				w.make()
				x := explaining(w)
				w.fault("everything is 403", w.faults.On(fault.Any), fault.Refuse(fault.StatusFor(403), 0))
				w.start()
				err := x.WaitForSync(timeout(w, time.Minute))
				w.check(apierrors.IsForbidden(err), "after a minute the wait returned: %v", err)
			}},
	}
}

func explaining(w *world) Explaining {
	x, ok := w.subject.(Explaining)
	if !ok {
		w.lacks("LastError and WaitForSync")
	}
	return x
}

func mapped(in []string, f func(string) string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = f(s)
	}
	return out
}
