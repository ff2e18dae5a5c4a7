package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func listClauses() []clause {
	return []clause{
		{id: "K5_ListMatrix", test: listMatrix},
		{id: "K5_ListParametersRefused", test: listRefused},
		{id: "K6_WatchFromListNeitherMissesNorRepeats", test: watchFromList},
		{id: "K6_ExactListIsAtTheVersionAskedFor", test: exactVersion},
		{id: "K7_ListReadsItsOwnWrites", test: ownWrites},
		{id: "K12_EmptyList", test: emptyList},
		{id: "K13_TimeoutSecondsIsNothingToAList", test: listDeadline},
	}
}

// past is a namespace of which each state is known.
type past struct {
	e *env
	// third is the RV at which p1, p2, p3 exist; other that of a later write of
	// another resource; deleted that of p2's end; last that of p4's creation.
	third, other, deleted, last int64
}

func newPast(e *env) past {
	e.Helper()
	p := past{e: e}
	e.put("p1")
	e.put("p2")
	p.third = e.rv(e.put("p3").ResourceVersion)
	p.other = e.rv(e.create(pods(), e.ns, "other", nil).ResourceVersion)
	e.remove("p2")
	p.last = e.rv(e.put("p4").ResourceVersion)
	p.deleted = e.rv(e.watch(e.path(), "resourceVersion="+rvOf(p.third)).next().object.ResourceVersion)
	// From now on the cache has all this.
	e.get(e.path()+"?resourceVersionMatch=NotOlderThan&resourceVersion="+rvOf(p.last)).want(e, http.StatusOK)
	return p
}

// at names what exists at an RV that is not below third.
func (p past) at(rv int64) string {
	switch {
	case rv < p.deleted:
		return "p1 p2 p3"
	case rv < p.last:
		return "p1 p3"
	}
	return "p1 p3 p4"
}

// Which state a list shows, by resourceVersion, match and limit.
func listMatrix(e *env) {
	p := newPast(e)
	n := "resourceVersion=" + rvOf(p.third)
	for _, row := range []struct {
		why, query string
		exact      int64 // the RV of the list; 0: any from last on
		limit      int   // items on the page; 0: all
	}{
		{"no RV: the newest", "", 0, 0},
		{"no RV, paged: the newest", "limit=2", 0, 2},
		{"0: what the cache has", "resourceVersion=0", 0, 0},
		{"0: the limit is ignored", "resourceVersion=0&limit=1", 0, 0},
		{"0, not older: the limit is ignored", "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=1", 0, 0},
		{"N: not older than N", n, 0, 0},
		{"N with a limit: exactly N", n + "&limit=9", p.third, 0},
		{"N with a limit, paged: exactly N", n + "&limit=2", p.third, 2},
		{"not older than N", n + "&resourceVersionMatch=NotOlderThan", 0, 0},
		{"not older than N, paged", n + "&resourceVersionMatch=NotOlderThan&limit=2", 0, 2},
		{"exactly N", n + "&resourceVersionMatch=Exact", p.third, 0},
		{"exactly N, paged", n + "&resourceVersionMatch=Exact&limit=1", p.third, 1},
		{"exactly now", "resourceVersionMatch=Exact&resourceVersion=" + rvOf(p.last), p.last, 0},
		{"exactly the RV of a deletion", "resourceVersionMatch=Exact&resourceVersion=" + rvOf(p.deleted), p.deleted, 0},
		{"a limit that just fits leaves no token", "limit=3", 0, 0},
		{"a limit below zero is none", "limit=-1", 0, 0},
	} {
		l := e.get(e.path() + "?" + row.query).list(e)
		rv := e.rv(l.Metadata.ResourceVersion)
		if row.exact != 0 && rv != row.exact {
			e.Errorf("%s (%s): the list is at %d, want %d", row.why, row.query, rv, row.exact)
		}
		if row.exact == 0 && rv < p.last {
			e.Errorf("%s (%s): the list is at %d, older than %d", row.why, row.query, rv, p.last)
		}
		names := strings.Fields(p.at(rv))
		if row.limit > 0 && row.limit < len(names) {
			names = names[:row.limit]
		}
		more := len(names) < len(strings.Fields(p.at(rv)))
		if got := l.names(); got != strings.Join(names, " ") || (l.Metadata.Continue != "") != more {
			e.Errorf("%s (%s): %q at %d, more: %v; want %q, more: %v", row.why, row.query, got, rv, l.Metadata.Continue != "", names, more)
		}
	}
}

// Parameters that make no sense, or not together, are refused.
func listRefused(e *env) {
	e.put("a")
	e.put("b")
	token := url.QueryEscape(e.get(e.path() + "?limit=1").list(e).Metadata.Continue)
	for _, row := range []struct {
		why, query string
		code       int
	}{
		{"match without RV", "resourceVersionMatch=Exact", 422},
		{"not older than nothing", "resourceVersionMatch=NotOlderThan", 422},
		{"exactly 0", "resourceVersion=0&resourceVersionMatch=Exact", 422},
		{"unknown match", "resourceVersion=5&resourceVersionMatch=Newest", 422},
		{"match with continue", "resourceVersion=5&resourceVersionMatch=Exact&continue=" + token, 422},
		{"sendInitialEvents on a list", "sendInitialEvents=true", 422},
		{"the RV is no number", "resourceVersion=abc", 400},
		{"the RV is below zero", "resourceVersion=-1", 400},
		{"the token is none", "limit=5&continue=abc", 400},
		{"RV with continue", "resourceVersion=5&continue=" + token, 400},
		{"a label selector that can't be read", "labelSelector=" + url.QueryEscape("a in (b"), 400},
		{"a field selector that can't be read", "fieldSelector=a", 400},
		{"a field that can't be selected", "fieldSelector=" + url.QueryEscape("data.color=red"), 400},
		{"the limit is no number", "limit=x", 400},
	} {
		a := e.get(e.path() + "?" + row.query)
		if a.code != row.code {
			e.Errorf("%s (%s): %d, want %d: %.300s", row.why, row.query, a.code, row.code, a.body)
			continue
		}
		if s := a.status(e, row.code); row.code == 422 && s.Reason != metav1.StatusReasonInvalid {
			e.Errorf("%s (%s): reason %q", row.why, row.query, s.Reason)
		}
	}
	if a := e.get(e.path() + "?resourceVersion=0&continue=" + token); a.code != http.StatusOK {
		e.Errorf("0 with continue: %d, want 200: %.300s", a.code, a.body)
	}
}

// A list's RV is not below its items', and a watch from it sees what came after
// and nothing else.
func watchFromList(e *env) {
	e.put("a")
	e.put("b")
	l := e.get(e.path()).list(e)
	for _, o := range l.Items {
		if e.rv(o.ResourceVersion) > e.rv(l.Metadata.ResourceVersion) {
			e.Errorf("%s is at %s, the list at %s", o.Name, o.ResourceVersion, l.Metadata.ResourceVersion)
		}
	}
	e.label("a", "step", "2")
	e.put("c")
	w := e.watch(e.path(), "timeoutSeconds=2&resourceVersion="+l.Metadata.ResourceVersion)
	e.label("b", "step", "2")
	events, _ := w.rest()
	if got := text(events); got != "MODIFIED a, ADDED c, MODIFIED b" {
		e.Errorf("events after the list: %s", got)
	}
}

// An exact list carries the RV that was asked for, even if that RV is another
// resource's.
func exactVersion(e *env) {
	p := newPast(e)
	l := e.get(e.path() + "?resourceVersionMatch=Exact&resourceVersion=" + rvOf(p.other)).list(e)
	if l.Metadata.ResourceVersion != rvOf(p.other) || l.names() != p.at(p.other) {
		e.Errorf("exactly at %d: %q at %s, want %q", p.other, l.names(), l.Metadata.ResourceVersion, p.at(p.other))
	}
}

// A list without an RV shows every write that was answered before it.
func ownWrites(e *env) {
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("a%02d", i)
		written := e.put(name)
		names = append(names, name)
		l := e.get(e.path()).list(e)
		if got := l.names(); got != strings.Join(names, " ") {
			e.Fatalf("after creating %s the list has %s", name, got)
		}
		if e.rv(l.Metadata.ResourceVersion) < e.rv(written.ResourceVersion) {
			e.Errorf("the list is at %s, %s at %s", l.Metadata.ResourceVersion, name, written.ResourceVersion)
		}
	}
}

// A list without items has an empty array in JSON, and no field in protobuf.
func emptyList(e *env) {
	a := e.get(e.path()).want(e, http.StatusOK)
	var l struct{ Items json.RawMessage }
	if err := json.Unmarshal(a.body, &l); err != nil || string(bytes.TrimSpace(l.Items)) != "[]" {
		e.Errorf("items is %s (%v), want []", l.Items, err)
	}
	if n := e.rv(a.list(e).Metadata.ResourceVersion); n <= 0 {
		e.Errorf("an empty list is at %d", n)
	}
	meta, items := e.protoList(e.get(e.path(), "Accept", mediaProto).want(e, http.StatusOK).body, "v1", "ConfigMapList")
	if len(items) != 0 || meta.ResourceVersion == "" {
		e.Errorf("protobuf: %d items, at %q", len(items), meta.ResourceVersion)
	}
}

// timeoutSeconds is for watches: a list that waits for a future RV waits its 3
// seconds.
func listDeadline(e *env) {
	rv := rvOf(e.now() + future)
	a := e.get(e.path() + "?timeoutSeconds=1&resourceVersionMatch=NotOlderThan&resourceVersion=" + rv)
	a.status(e, http.StatusGatewayTimeout)
	e.lasted("the list", a.took, 3*time.Second)
}
