package fault_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim/fault"
)

func TestOpOf(t *testing.T) {
	tests := []struct {
		method, url string
		op          fault.Op
		resource    string
	}{
		{"GET", "/api/v1/pods", fault.List, "pods"},
		{"GET", "/api/v1/pods?watch=0&limit=5", fault.List, "pods"},
		{"GET", "/api/v1/namespaces/a/pods?continue=x", fault.List, "pods"},
		{"GET", "/apis/apps/v1/namespaces/a/deployments?watch=1&resourceVersion=5", fault.Watch, "deployments"},
		{"GET", "/apis/apps/v1/deployments?watch=true&sendInitialEvents=true", fault.WatchList, "deployments"},
		{"GET", "/apis/apps/v1/deployments?watch=true&sendInitialEvents=false", fault.Watch, "deployments"},
		{"GET", "/api/v1/namespaces", fault.List, "namespaces"},
		{"GET", "/api/v1/namespaces/a", fault.Other, "namespaces"},
		{"GET", "/api/v1/namespaces/a/pods/p", fault.Other, "pods"},
		{"POST", "/api/v1/namespaces/a/pods", fault.Other, "pods"},
		{"GET", "/version", fault.Other, ""},
		{"GET", "/", fault.Other, ""},
	}
	for _, tt := range tests {
		op, resource := fault.OpOf(httptest.NewRequest(tt.method, tt.url, nil))
		if op != tt.op || resource != tt.resource {
			t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.url, op, resource, tt.op, tt.resource)
		}
	}
}

// TestScript: which of the requests l (list), c (its next page), w, and n (a
// list of nodes), a second apart, meet the fault.
func TestScript(t *testing.T) {
	urls := map[rune]string{'l': "/api/v1/pods", 'c': "/api/v1/pods?continue=x", 'w': "/api/v1/pods?watch=1", 'n': "/api/v1/nodes"}
	tests := []struct {
		why            string
		rule           func(s *fault.Script) *fault.Rule
		requests, want string
	}{
		{"every one of its kind", func(s *fault.Script) *fault.Rule { return s.On(fault.List) }, "lwlw", "x.x."},
		{"one of them", func(s *fault.Script) *fault.Rule { return s.On(fault.List).Nth(2) }, "lwlll", "..x.."},
		{"some of them", func(s *fault.Script) *fault.Rule { return s.On(fault.List).From(2).Times(2) }, "lllll", ".xx.."},
		{"a page of each list", func(s *fault.Script) *fault.Rule { return s.On(fault.List).Page(2) }, "lcclc", ".x..x"},
		{"one resource", func(s *fault.Script) *fault.Rule { return s.On(fault.Any).Resource("nodes") }, "lnwn", ".x.x"},
		{"for a time from the first one", func(s *fault.Script) *fault.Rule { return s.On(fault.Watch).For(2 * time.Second) }, "lwwww", ".xx.."},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			script := fault.New()
			rule := tt.rule(script).Do(fault.Break())
			var got strings.Builder
			for _, c := range tt.requests {
				if script.Choose(httptest.NewRequest(http.MethodGet, urls[c], nil)) != nil {
					got.WriteByte('x')
				} else {
					got.WriteByte('.')
				}
				time.Sleep(time.Second)
			}
			if got.String() != tt.want || rule.Hits() != strings.Count(tt.want, "x") {
				t.Errorf("%s: %s, %d hits; want %s", tt.why, got.String(), rule.Hits(), tt.want)
			}
			script.Clear()
			if script.Choose(httptest.NewRequest(http.MethodGet, urls['l'], nil)) != nil {
				t.Errorf("%s: a fault after Clear", tt.why)
			}
		})
	}
}

// C2: the first rule that has something to say decides.
func TestScript_Order(t *testing.T) {
	script := fault.New()
	first := script.On(fault.List).Nth(2).Do(fault.Break())
	second := script.On(fault.Any).Do(fault.Hang())
	for range 3 {
		script.Choose(httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil))
	}
	if first.Hits() != 1 || second.Hits() != 2 {
		t.Errorf("hits: %d and %d", first.Hits(), second.Hits())
	}
}
