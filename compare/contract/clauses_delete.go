package contract

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim/fault"
)

func deleteClauses() []*clause {
	return []*clause{
		{id: "delete-final", sentence: "A deletion that the watch brings is told with the object's final state.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a")
				w.sync()
				rv := w.delete("a")
				w.settle()
				is(w, w.rec.about("a")[1:], "DELETED default/a@"+rv)
			}},
		{id: "delete-once", sentence: "Each deletion is told once, also when a new list confirms it.",
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				w.delete("a")
				w.pass(time.Minute)
				w.away(func() { w.update("b") })
				w.settle()
				events := w.rec.about("a")
				w.check(len(events) == 2 && events[1].typ == "DELETED", "%s", show(events))
			}},
		{id: "delete-missed", sentence: "What was deleted when history was lost is told as deleted, with its last known state, which is marked as perhaps not final.",
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				rv := w.truth()["default/a"].rv
				w.away(func() { w.delete("a") })
				w.settle()
				is(w, w.rec.about("a")[1:], "DELETED default/a@"+rv+" final state unknown")
			}},
		{id: "delete-resumed", sentence: "What was deleted while the watch was down is told with its final state, if the server still knows it.", needs: []Capability{Watch},
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				rv := ""
				w.apart(func() { rv = w.delete("a") })
				w.settle()
				is(w, w.rec.about("a")[1:], "DELETED default/a@"+rv)
			}},
		{id: "delete-unknown", sentence: "The deletion of an object that was never told is not told.",
			test: func(w *world) {
				w.create("a")
				w.fault("after each event a watch has the deletion of an object that never was", w.faults.On(fault.Stream), fault.GhostDelete())
				w.sync()
				w.update("a", "a")
				w.pass(time.Minute)
				w.check(len(w.rec.illegal) == 0, "%s", strings.Join(w.rec.illegal, "\n"))
			}},
		{id: "recreate", sentence: "An object that is deleted and made anew under its name is told as deleted, then added.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.delete("a")
				w.create("a")
				w.settle()
				reborn(w)
			}},
		{id: "recreate-missed", sentence: "So it is when only a new list can tell.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				w.away(func() { w.delete("a"); w.create("a") })
				w.settle()
				reborn(w)
			}},
		{id: "recreate-no-gap", sentence: "When a new list brings an object anew, no reader ever finds its name missing.",
			test: func(w *world) {
				w.create("a", "b")
				w.make()
				missing := false
				look := func() {
					if _, ok := w.subject.Get("default/a"); !ok {
						missing = true
					}
				}
				w.sync()
				w.rec.hook = func(int, told) { look() }
				w.away(func() { w.delete("a"); w.create("a"); w.update("b") })
				w.await(patience, func() bool { look(); return equal(w.store(), w.truth()) })
				w.settle()
				w.check(!missing, "a reader found nothing under default/a, though the list had it")
			}},
		{id: "delete-queued", sentence: "What was created and deleted while the store was held up doesn't stay behind, though a new list came meanwhile.", needs: []Capability{Watch, Indexes},
			test: func(w *world) {
				w.create("a")
				open := w.hold()
				w.sync()
				w.update("a") // the store is held up from here on
				w.pass(time.Second)
				w.create("o")
				w.pass(time.Second)
				w.away(func() { w.delete("o") })
				w.pass(2 * time.Minute)
				w.do("the index function returns")
				open()
				w.settle()
				w.check(len(w.rec.illegal) == 0, "%s", strings.Join(w.rec.illegal, "\n"))
			}},
		{id: "recreate-queued", sentence: "A deletion that waits for the store and a new list that has the name again become a deletion and an addition.", needs: []Capability{Watch, Indexes},
			test: func(w *world) {
				w.create("a", "x")
				open := w.hold()
				w.sync()
				w.update("x")
				w.pass(time.Second)
				w.delete("a")
				w.pass(time.Second)
				w.away(func() { w.create("a") })
				w.pass(2 * time.Minute)
				w.do("the index function returns")
				open()
				w.settle()
				reborn(w)
			}},
	}
}

// hold makes the index function block the store from the first update on, until
// open is called. It comes before sync.
func (w *world) hold() (open func()) {
	wait, open := w.gate()
	w.do("the index function blocks at the first update")
	w.config.Indexers = map[string]IndexFunc{"turn": func(pod *corev1.Pod) ([]string, error) {
		if pod.Annotations["turn"] != "" {
			wait()
		}
		return []string{pod.Annotations["turn"]}, nil
	}}
	return open
}

// reborn checks that default/a was told as added, deleted, and added as another.
func reborn(w *world) {
	events := w.rec.about("a")
	ok := len(events) == 3 && events[0].typ == "ADDED" && events[1].typ == "DELETED" && events[2].typ == "ADDED" &&
		events[0].uid == events[1].uid && events[1].uid != events[2].uid
	w.check(ok, "%s", show(events))
}

// is compares calls with what is wanted.
func is(w *world, events []told, want ...string) {
	w.check(slices.Equal(texts(events), want), "%s\nwant: %s", show(events), strings.Join(want, "; "))
}
