package contract

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

func eventClauses() []*clause {
	return []*clause{
		{id: "events-all", sentence: "Each change of an object is told once, in the server's order.", needs: []Capability{Watch},
			test: func(w *world) {
				w.sync()
				w.create("a")
				w.update("a", "a", "a")
				w.delete("a")
				w.create("a")
				w.update("a")
				w.settle()
				var types []string
				for _, e := range w.rec.about("a") {
					types = append(types, e.typ)
				}
				w.check(strings.Join(types, " ") == "ADDED UPDATED UPDATED UPDATED DELETED ADDED UPDATED", "%s", show(w.rec.all()))
				w.check(ascending(w.rec.about("a")), "out of order: %s", show(w.rec.all()))
			}},
		{id: "events-old", sentence: "An update brings the state that the handler was told before.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				for range 5 {
					w.update("a")
					w.pass(time.Minute)
				}
				last := ""
				for _, e := range w.rec.about("a") {
					w.check(e.typ == "ADDED" || e.oldRV == last, "it was told %s, then %v", last, e)
					last = e.rv
				}
				w.check(w.rec.count() == 6, "5 updates, a minute apart; %s", show(w.rec.all()))
			}},
		{id: "order-keys", sentence: "Changes of different objects are told in the server's order too, also when they had to wait.", needs: []Capability{Watch, Indexes},
			test: func(w *world) {
				w.create("a", "b")
				open := w.hold()
				w.sync()
				n := w.rec.count()
				w.update("a", "b", "a", "b", "a", "b")
				w.pass(time.Minute)
				w.do("the index function returns")
				open()
				w.settle()
				w.check(ascending(w.rec.since(n)), "%s", show(w.rec.since(n)))
			}},
		{id: "events-legal", sentence: "Replaying what a handler was told gives the store: nothing is added twice, and nothing unknown is updated or deleted, whatever the server and the wire do.",
			test: func(w *world) {
				rnd := rand.New(rand.NewPCG(7, 7))
				w.create(names(8)...)
				w.sync()
				churn := func() {
					all := names(8)
					for range 12 {
						name := all[rnd.IntN(len(all))]
						if _, there := w.truth()[fullKey(name)]; !there {
							w.create(name)
						} else if rnd.IntN(4) == 0 {
							w.delete(name)
						} else {
							w.update(name)
						}
					}
				}
				for range 4 {
					churn()
					w.pass(20 * time.Second)
					w.closeWatches()
					churn()
					w.apart(churn)
					w.pass(time.Minute)
					w.away(churn)
					w.pass(time.Minute)
				}
				w.settle()
				w.check(len(w.rec.illegal) == 0, "%s", strings.Join(w.rec.illegal, "\n"))
			}},
		{id: "store-first", sentence: "When a handler is told something, the store is at that state or a later one.",
			test: func(w *world) {
				w.make()
				behind := ""
				w.rec.hook = func(_ int, e told) {
					pod, ok := w.subject.Get(e.key)
					switch {
					case e.typ == "DELETED" && ok && string(pod.UID) == e.uid,
						e.typ != "DELETED" && ok && number(pod.ResourceVersion) < number(e.rv):
						behind = fmt.Sprintf("at %v the store still held version %s", e, pod.ResourceVersion)
					}
				}
				w.create("a", "b")
				w.sync()
				for range 5 {
					w.update("a", "b")
					w.create("c")
					w.pass(10 * time.Second)
					w.delete("c")
					w.pass(10 * time.Second)
				}
				w.settle()
				w.check(behind == "", "%s", behind)
			}},
		{id: "events-serial", sentence: "The calls of one handler never overlap.",
			test: func(w *world) {
				w.make()
				w.rec.hook = func(int, told) { time.Sleep(time.Second) }
				w.create("a", "b", "c", "d")
				w.sync()
				w.update("a", "b", "c", "d")
				w.away(func() { w.update("a", "b", "c", "d") })
				w.settle()
				w.check(w.rec.overlaps == 0, "%d calls began while another was running", w.rec.overlaps)
			}},
	}
}

// number reads a version of the simulator's, which are decimal numbers.
func number(rv string) int {
	n := 0
	_, _ = fmt.Sscan(rv, &n) // 0 if it isn't one
	return n
}

func ascending(events []told) bool {
	return slices.IsSortedFunc(events, func(a, b told) int { return number(a.rv) - number(b.rv) })
}
