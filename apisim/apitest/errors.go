package apitest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func errorClauses() []clause {
	return []clause{
		{id: "K22_ErrorIsTheLastFrame", test: errorIsLast},
		{id: "K22_FutureVersion", test: futureVersion},
		{id: "K22_UnknownPathsAndVerbs", test: unknownPaths},
		{id: "K23_RestartForgetsHistory", test: restartForgets, needs: []ability{canRestart()}, disturbs: true},
		{id: "E9_TooLargeAsksToRetryOnce", test: tooLargeRetry},
	}
}

// A watch that fails does so in the stream: 200, one ERROR with a Status, and a
// clean end. In protobuf too.
func errorIsLast(e *env) {
	e.put("a")
	for _, accept := range []string{mediaJSON, mediaProto} {
		w := e.watch(e.path(), "resourceVersion=1", "Accept", accept)
		events, _ := w.rest()
		if got := text(events); got != "ERROR 410" {
			e.Errorf("%s: %s; want one ERROR 410", accept, got)
			continue
		}
		s := events[0].status
		if s.Reason != metav1.StatusReasonExpired || s.Status != metav1.StatusFailure || !strings.HasPrefix(s.Message, "too old resource version: 1 (") {
			e.Errorf("%s: Status %+v", accept, s)
		}
	}
}

// A state that is not reached within 3 seconds: 504, or an ERROR 504 once a
// watch has begun. Both name the cause, which alone tells it from other timeouts.
func futureVersion(e *env) {
	rv := "resourceVersion=" + rvOf(e.now()+future)
	check := func(what string, s metav1.Status, took time.Duration) {
		e.Helper()
		if s.Code != http.StatusGatewayTimeout || s.Reason != metav1.StatusReasonTimeout || s.Details == nil ||
			len(s.Details.Causes) != 1 || s.Details.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge {
			e.Errorf("%s: Status %+v", what, s)
		}
		e.lasted(what, took, 3*time.Second)
	}
	a := e.get(e.path() + "?resourceVersionMatch=NotOlderThan&" + rv)
	check("a list", a.status(e, http.StatusGatewayTimeout), a.took)

	w := e.watch(e.path(), watchList+"&timeoutSeconds=10&"+rv)
	v := w.next()
	if v.kind != "ERROR" {
		e.Fatalf("watch-list: %v", v)
	}
	check("a watch-list", v.status, v.at)
	if _, err := w.read(); !errors.Is(err, io.EOF) {
		e.Errorf("after the ERROR: %v", err)
	}
}

// The suite's other refusals are with the parameters (K5, K16).
func unknownPaths(e *env) {
	for _, row := range []struct {
		why, method, path string
		code              int
	}{
		{"no such object", http.MethodGet, e.path() + "/none", 404},
		{"no such resource", http.MethodGet, "/api/v1/namespaces/" + e.ns + "/gadgets", 404},
		{"no such group", http.MethodGet, "/apis/none.informer.example/v1/gadgets", 404},
		{"a name is needed", http.MethodPut, e.path(), 405},
	} {
		if a := e.do(row.method, row.path, map[string]any{}); a.code != row.code {
			e.Errorf("%s: %d, want %d: %.300s", row.why, a.code, row.code, a.body)
		}
	}
}

// A server that was restarted has the state and no history: its window begins
// at its own first list.
func restartForgets(e *env) {
	before := e.rv(e.put("a").ResourceVersion)
	last := e.rv(e.label("a", "step", "2").ResourceVersion)
	open := e.watch(e.path(), "resourceVersion="+rvOf(before))
	open.take(1)
	e.Restart(e.T)
	if _, err := open.read(); err == nil {
		e.Error("a watch outlived the server")
	}
	events, _ := e.watch(e.path(), "timeoutSeconds=5&resourceVersion="+rvOf(before-1)).rest()
	if got := text(events); got != "ERROR 410" {
		e.Errorf("from before the restart: %s", got)
	} else if want := fmt.Sprintf("too old resource version: %d (", before-1); !strings.HasPrefix(events[0].status.Message, want) {
		e.Errorf("the message is %q, want %q", events[0].status.Message, want)
	}
	l := e.get(e.path()).list(e)
	if l.names() != "a" || e.rv(l.Metadata.ResourceVersion) < last {
		e.Errorf("the list has %q at %s", l.names(), l.Metadata.ResourceVersion)
	}
	w := e.watch(e.path(), "resourceVersion="+l.Metadata.ResourceVersion)
	e.put("b")
	if got := w.next().String(); got != "ADDED b" {
		e.Errorf("from the new list: %s", got)
	}
}

// The 504 says after how many seconds to come again. A client that follows this
// by itself, and lets a library follow it too, asks eleven times.
func tooLargeRetry(e *env) {
	a := e.get(e.path() + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + rvOf(e.now()+future))
	s := a.status(e, http.StatusGatewayTimeout)
	if got := a.header.Get("Retry-After"); got != "1" || s.Details == nil || s.Details.RetryAfterSeconds != 1 {
		e.Errorf("Retry-After %q, details %+v; want 1", got, s.Details)
	}
}
