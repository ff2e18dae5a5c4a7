package apitest

import (
	"fmt"
	"time"
)

func watchClauses() []clause {
	return []clause{
		{id: "K14_WatchShowsEachLaterWriteOnce", test: eachWriteOnce},
		{id: "K19_TimeoutIsExactAndClean", test: timeoutIsExact},
		{id: "K19_DefaultTimeout", test: defaultTimeout, needs: []ability{virtualTime()}},
		{id: "K20_SelectorTransitions", test: selectorTransitions},
		{id: "K21_DeleteAndRecreate", test: deleteAndRecreate},
		{id: "K21_NothingIsCoalesced", test: nothingCoalesced},
		{id: "K25_WatchInTheFutureIsDeaf", test: deafInTheFuture},
	}
}

// A watch from N shows the writes above N, each once; limit and continue are
// nothing to it.
func eachWriteOnce(e *env) {
	e.put("a")
	from := e.put("b").ResourceVersion
	e.label("a", "step", "2")
	e.put("c")
	w := e.watch(e.path(), "timeoutSeconds=2&limit=1&continue=abc&resourceVersion="+from)
	e.remove("b")
	e.put("d")
	events, _ := w.rest()
	if got := text(events); got != "MODIFIED a, ADDED c, DELETED b, ADDED d" {
		e.Errorf("events: %s", got)
	}
}

// timeoutSeconds ends a watch on time, without an event and without an error.
func timeoutIsExact(e *env) {
	for _, query := range []string{"resourceVersion=" + rvOf(e.now()), "resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"} {
		events, took := e.watch(e.path(), "timeoutSeconds=2&"+query).rest()
		if len(events) != 0 {
			e.Errorf("%s: events: %s", query, text(events))
		}
		e.lasted("the watch "+query, took, 2*time.Second)
	}
}

// Without timeoutSeconds, or with 0, a watch lasts between 30 and 60 minutes.
func defaultTimeout(e *env) {
	for _, query := range []string{"", "timeoutSeconds=0&"} {
		_, took := e.watchFor(2*time.Hour, e.path(), query+"resourceVersion="+rvOf(e.now())).rest()
		if took < 30*time.Minute || took > time.Hour {
			e.Errorf("%q: the watch lasted %v", query, took)
		}
	}
}

// What a change means to a watch with a selector.
func selectorTransitions(e *env) {
	e.put("in", "tier", "front", "step", "1")
	from := e.put("out", "tier", "back").ResourceVersion
	w := e.watch(e.path(), "labelSelector=tier%3Dfront&resourceVersion="+from)
	e.label("out", "step", "1") // outside before and after: not shown
	e.label("in", "step", "2")  // inside before and after
	entered := e.label("out", "tier", "front")
	left := e.label("in", "tier", "back")
	e.label("in", "step", "3") // outside: not shown
	e.remove("in")             // outside: not shown
	e.remove("out")
	events := w.take(4)
	if got := text(events); got != "MODIFIED in, ADDED out, DELETED in, DELETED out" {
		e.Fatalf("events: %s", got)
	}
	if got := events[1].object.ResourceVersion; got != entered.ResourceVersion {
		e.Errorf("entered at %s, ADDED at %s", entered.ResourceVersion, got)
	}
	exit := events[2].object
	if exit.Labels["tier"] != "front" || exit.Labels["step"] != "2" || exit.ResourceVersion != left.ResourceVersion {
		e.Errorf("on leaving, DELETED has labels %v at %s; want the old ones at %s", exit.Labels, exit.ResourceVersion, left.ResourceVersion)
	}
	end := events[3].object
	if end.Labels["tier"] != "front" || e.rv(end.ResourceVersion) <= e.rv(entered.ResourceVersion) {
		e.Errorf("deleted: labels %v at %s; want the last ones at an RV of its own, above %s", end.Labels, end.ResourceVersion, entered.ResourceVersion)
	}
}

// A name that is used again is another object: deleted, added, with another UID.
// Lists before and after show no more than that.
func deleteAndRecreate(e *env) {
	first := e.put("a")
	w := e.watch(e.path(), "resourceVersion="+first.ResourceVersion)
	e.remove("a")
	second := e.put("a")
	events := w.take(2)
	if got := text(events); got != "DELETED a, ADDED a" || events[0].object.UID != first.UID || events[1].object.UID != second.UID {
		e.Errorf("events: %s, uids %s and %s; want %s and %s", got, events[0].object.UID, events[1].object.UID, first.UID, second.UID)
	}
	if first.UID == second.UID {
		e.Errorf("both have the uid %s", first.UID)
	}
	if l := e.get(e.path()).list(e); len(l.Items) != 1 || l.Items[0].UID != second.UID {
		e.Errorf("the list shows %v", l.Items)
	}
}

// Writes in quick succession are told one by one.
func nothingCoalesced(e *env) {
	from := e.put("a").ResourceVersion
	const n = 30
	for i := range n {
		e.label("a", "step", fmt.Sprint(i))
	}
	for i, v := range e.watch(e.path(), "resourceVersion="+from).take(n) {
		if v.object.Labels["step"] != fmt.Sprint(i) {
			e.Fatalf("event %d is %v with step %s", i, v, v.object.Labels["step"])
		}
	}
}

// A plain watch from a future RV opens, and says nothing of the writes up to it.
func deafInTheFuture(e *env) {
	w := e.watch(e.path(), "timeoutSeconds=3&allowWatchBookmarks=true&resourceVersion="+rvOf(e.now()+future))
	e.put("a")
	events, took := w.rest()
	if len(events) != 0 {
		e.Errorf("events: %s", text(events))
	}
	e.lasted("the watch", took, 3*time.Second)
}
