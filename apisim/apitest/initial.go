package apitest

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func initialClauses() []clause {
	return []clause{
		{id: "K15_WatchWithoutVersionBeginsWithTheState", test: implicitInitial},
		{id: "K16_WatchMatrix", test: watchMatrix},
		{id: "K16_WatchParametersRefused", test: watchRefused},
		{id: "K17_InitialEventsAndTheirEnd", test: initialEvents},
		{id: "K17_EmptyStateHasAnEndToo", test: initialOfNothing},
	}
}

// A watch from "" or 0 that doesn't say otherwise begins with the state; its end
// is marked if bookmarks are taken.
func implicitInitial(e *env) {
	e.put("a")
	last := e.put("b")
	e.get(e.path()+"?resourceVersionMatch=NotOlderThan&resourceVersion="+last.ResourceVersion).want(e, http.StatusOK)
	var marked, plain []*stream
	for _, query := range []string{"", "resourceVersion=0&"} {
		marked = append(marked, e.watch(e.path(), query+"allowWatchBookmarks=true&timeoutSeconds=20"))
		plain = append(plain, e.watch(e.path(), query+"timeoutSeconds=20"))
	}
	for i := range marked {
		if got := text(marked[i].take(3)); got != "ADDED a, ADDED b, END" {
			e.Errorf("%s: %s", marked[i].what, got)
		}
		if got := text(plain[i].take(2)); got != "ADDED a, ADDED b" {
			e.Errorf("%s: %s", plain[i].what, got)
		}
	}
	e.put("c")
	for i := range marked {
		for _, w := range []*stream{marked[i], plain[i]} {
			if got := w.next().String(); got != "ADDED c" {
				e.Errorf("%s: %s", w.what, got)
			}
		}
	}
}

// What a watch begins with, by sendInitialEvents, bookmarks and resourceVersion.
func watchMatrix(e *env) {
	p := newPast(e)
	const (
		with    = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
		without = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&"
		marks   = "allowWatchBookmarks=true&"
	)
	state := "ADDED p1, ADDED p3, ADDED p4"
	n, now := "resourceVersion="+rvOf(p.third), "resourceVersion="+rvOf(p.last)
	rows := []struct{ why, query, begin string }{
		{"state, newest", with + marks, state + ", END"},
		{"state, as the cache has it", with + marks + "resourceVersion=0", state + ", END"},
		{"state, not older than N", with + marks + n, state + ", END"},
		{"state, not older than now", with + marks + now, state + ", END"},
		{"state without bookmarks: no end marker", with, state},
		{"the same from 0", with + "resourceVersion=0", state},
		{"the same from N", with + n, state},
		{"no state, from now", without, ""},
		{"no state, from what the cache has", without + "resourceVersion=0", ""},
		{"no state, from N", without + n, "DELETED p2, ADDED p4"},
		{"N says it all", n, "DELETED p2, ADDED p4"},
		{"N with bookmarks", marks + n, "DELETED p2, ADDED p4"},
	}
	var open []*stream
	for _, row := range rows {
		open = append(open, e.watch(e.path(), row.query+"&timeoutSeconds=20"))
	}
	e.put("p5")
	for i, row := range rows {
		want := strings.TrimPrefix(row.begin+", ADDED p5", ", ")
		events := open[i].take(strings.Count(want, ",") + 1)
		if got := text(events); got != want {
			e.Errorf("%s (%s): %s; want %s", row.why, row.query, got, want)
		}
		for _, v := range events {
			if rv := e.rv(v.object.ResourceVersion); v.end() && rv < p.last {
				e.Errorf("%s: the end marker is at %d, the state at %d", row.why, rv, p.last)
			}
		}
	}
}

// Combinations that make no sense are refused before the watch begins.
func watchRefused(e *env) {
	rv := "resourceVersion=" + rvOf(e.now())
	for _, row := range []struct {
		why, query string
		code       int
	}{
		{"sendInitialEvents without match", "sendInitialEvents=true&" + rv, 422},
		{"no initial events, without match", "sendInitialEvents=false&" + rv, 422},
		{"sendInitialEvents, Exact", "sendInitialEvents=true&resourceVersionMatch=Exact&" + rv, 422},
		{"match without sendInitialEvents", "resourceVersionMatch=NotOlderThan&" + rv, 422},
		{"unknown match", "sendInitialEvents=true&resourceVersionMatch=Newest&" + rv, 422},
		{"a label selector that can't be read", "labelSelector=a+in+%28b&" + rv, 400},
		{"a field that can't be selected", "fieldSelector=data.color%3Dred&" + rv, 400},
		{"the RV is no number", "resourceVersion=abc", 500},
	} {
		a := e.get(e.path() + "?watch=true&timeoutSeconds=1&" + row.query)
		if a.code != row.code {
			e.Errorf("%s (%s): %d, want %d: %.300s", row.why, row.query, a.code, row.code, a.body)
			continue
		}
		if s := a.status(e, row.code); row.code == 422 && s.Reason != metav1.StatusReasonInvalid {
			e.Errorf("%s (%s): reason %q", row.why, row.query, s.Reason)
		}
	}
}

// Initial events carry the RVs of their objects, in no order. The end marker's is
// not below any of them, and what follows is above it.
func initialEvents(e *env) {
	e.put("a")
	e.put("b")
	e.put("c")
	highest := e.rv(e.label("a", "step", "2").ResourceVersion) // first in order, last in time
	w := e.watch(e.path(), watchList)
	events := w.initial()
	if got := text(events); got != "ADDED a, ADDED b, ADDED c, END" {
		e.Fatalf("events: %s", got)
	}
	if got := e.rv(events[0].object.ResourceVersion); got != highest {
		e.Errorf("a is at %d, want its own %d", got, highest)
	}
	marker := events[3].object
	end := e.rv(marker.ResourceVersion)
	if end < highest {
		e.Errorf("the end is at %d, before %d", end, highest)
	}
	if marker.Name != "" || marker.UID != "" || len(marker.Annotations) != 1 {
		e.Errorf("the end marker is %+v; want an RV and one annotation", marker)
	}
	e.label("b", "step", "2")
	e.remove("c")
	for _, v := range w.take(2) {
		if e.rv(v.object.ResourceVersion) <= end {
			e.Errorf("%v at %s comes after the end at %d", v, v.object.ResourceVersion, end)
		}
	}
	// From the marker's RV a new watch sees the same.
	if got := text(e.watch(e.path(), "resourceVersion="+rvOf(end)).take(2)); got != "MODIFIED b, DELETED c" {
		e.Errorf("from the end marker: %s", got)
	}
}

func initialOfNothing(e *env) {
	w := e.watch(e.path(), watchList)
	if got := text(w.initial()); got != "END" {
		e.Errorf("events: %s", got)
	}
	e.put("a")
	if got := w.next().String(); got != "ADDED a" {
		e.Errorf("then %s", got)
	}
}
