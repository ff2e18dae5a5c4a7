package apitest

import (
	"encoding/json"
	"time"
)

func bookmarkClauses() []clause {
	return []clause{
		{id: "K18_BookmarkBeforeTheDeadline", test: lastBookmark},
		{id: "K18_BookmarksAreAskedFor", test: bookmarksAskedFor},
		{id: "K18_BookmarkEveryMinute", test: bookmarkEveryMinute, needs: []ability{virtualTime()}},
		{id: "K18_NoBookmarkAtTheStart", test: noBookmarkAtStart, needs: []ability{virtualTime()}},
		{id: "K18_UncachedHasTheMarkerAlone", test: uncachedBookmarks, needs: []ability{uncachedResource()}},
	}
}

// A bookmark comes two seconds before the deadline, or up to a second before
// that. It covers what was sent, and
// its object is empty.
func lastBookmark(e *env) {
	w := e.watch(e.path(), "allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion="+rvOf(e.now()))
	written := e.put("a", "step", "1")
	events, took := w.rest()
	e.lasted("the watch", took, 5*time.Second)
	if len(events) < 2 || events[0].String() != "ADDED a" {
		e.Fatalf("events: %s", text(events))
	}
	for _, v := range events[1:] {
		if v.String() != "BOOKMARK" || e.rv(v.object.ResourceVersion) < e.rv(written.ResourceVersion) {
			e.Errorf("%v at %s; want a bookmark that covers %s", v, v.object.ResourceVersion, written.ResourceVersion)
		}
		checkEmpty(e, v)
	}
	due := 3 * time.Second
	if !e.Virtual {
		due -= time.Second // a real server looks about once a second, at all that are due in the present one
	}
	e.lasted("the first bookmark", events[1].at, due)
	if e.Virtual && len(events) != 2 {
		e.Errorf("events: %s; want one bookmark", text(events))
	}
}

// checkEmpty: a bookmark's object has kind, apiVersion and RV.
func checkEmpty(e *env, v event) {
	e.Helper()
	var o struct {
		Kind, APIVersion string
		Metadata         map[string]any
		Data             map[string]string
	}
	if err := json.Unmarshal(v.raw, &o); err != nil {
		e.Fatal(err)
	}
	delete(o.Metadata, "creationTimestamp") // null, in the encoding of some types
	if o.Kind != "ConfigMap" || o.APIVersion != "v1" || len(o.Metadata) != 1 || o.Metadata["resourceVersion"] == "" || o.Data != nil {
		e.Errorf("a bookmark's object is %s", v.raw)
	}
}

func bookmarksAskedFor(e *env) {
	w := e.watch(e.path(), "timeoutSeconds=4&resourceVersion="+rvOf(e.now()))
	e.put("a")
	if events, _ := w.rest(); text(events) != "ADDED a" {
		e.Errorf("events: %s", text(events))
	}
}

func bookmarkEveryMinute(e *env) {
	w := e.watchFor(time.Hour, e.path(), "allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion="+rvOf(e.now()))
	e.put("a")
	events, _ := w.rest()
	if got := text(events); got != "ADDED a, BOOKMARK, BOOKMARK, BOOKMARK" {
		e.Fatalf("events: %s", got)
	}
	for i, want := range []time.Duration{0, time.Minute, 2 * time.Minute, 148 * time.Second} {
		e.lasted(events[i].String(), events[i].at, want)
	}
}

// Nothing was written since the watch's start, so there is nothing to cover.
func noBookmarkAtStart(e *env) {
	e.put("a")
	w := e.watchFor(time.Hour, e.path(), "allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion="+rvOf(e.now()))
	if events, _ := w.rest(); len(events) != 0 {
		e.Errorf("events: %s", text(events))
	}
}

// A resource without a watch cache gets the end marker, and no later bookmark.
func uncachedBookmarks(e *env) {
	r := resource{prefix: "/api/v1", plural: e.Uncached, apiVersion: "v1", kind: e.UncachedKind, content: "involvedObject"}
	about := map[string]any{"kind": "Pod", "namespace": e.ns, "name": "a"} // wanted of events
	e.create(r, e.ns, "a", about)
	w := e.watch(r.in(e.ns), watchList+"&timeoutSeconds=5")
	if got := text(w.initial()); got != "ADDED a, END" {
		e.Errorf("events: %s", got)
	}
	e.create(r, e.ns, "b", about)
	if events, _ := w.rest(); text(events) != "ADDED b" {
		e.Errorf("then: %s", text(events))
	}
}
