package apisim

import (
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// history writes pods so that the RV of each state is known:
//
//	101 +a/p1   102 +a/p2   103 +a/p3   104 another resource   105 -a/p2   106 +a/p4
func history(t *testing.T, opts ...Option) *Server {
	s := New(opts...)
	put(t, s, pod("a", "p1"))
	put(t, s, pod("a", "p2"))
	put(t, s, pod("a", "p3"))
	put(t, s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "c"}})
	remove(t, s, "a", "p2")
	if rv := put(t, s, pod("a", "p4")); rv != "106" {
		t.Fatalf("history ends at %s", rv)
	}
	return s
}

const (
	at103 = "a/p1 a/p2 a/p3"
	at106 = "a/p1 a/p3 a/p4"
)

// L1, L2, L3, L5: which RV a list shows.
func TestListMatrix(t *testing.T) {
	for _, tc := range []struct {
		why, query string
		code       int
		keys, rv   string
		more       bool
		waited     time.Duration
	}{
		{why: "no RV: newest", query: "", code: 200, keys: at106, rv: "106"},
		{why: "no RV, paged: newest", query: "limit=2", code: 200, keys: "a/p1 a/p3", rv: "106", more: true},
		{why: "0: any state, here the newest", query: "resourceVersion=0", code: 200, keys: at106, rv: "106"},
		{why: "0: the limit is ignored", query: "resourceVersion=0&limit=1", code: 200, keys: at106, rv: "106"},
		{why: "0 not older: the limit is ignored", query: "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=1", code: 200, keys: at106, rv: "106"},
		{why: "N without a limit: not older", query: "resourceVersion=103", code: 200, keys: at106, rv: "106"},
		{why: "N with a limit: exactly N", query: "resourceVersion=103&limit=9", code: 200, keys: at103, rv: "103"},
		{why: "N with a limit, paged: exactly N", query: "resourceVersion=103&limit=2", code: 200, keys: "a/p1 a/p2", rv: "103", more: true},
		{why: "not older than N", query: "resourceVersion=103&resourceVersionMatch=NotOlderThan", code: 200, keys: at106, rv: "106"},
		{why: "not older than N, paged", query: "resourceVersion=103&resourceVersionMatch=NotOlderThan&limit=2", code: 200, keys: "a/p1 a/p3", rv: "106", more: true},
		{why: "exactly N", query: "resourceVersion=103&resourceVersionMatch=Exact", code: 200, keys: at103, rv: "103"},
		{why: "exactly N of another resource", query: "resourceVersion=104&resourceVersionMatch=Exact", code: 200, keys: at103, rv: "104"},
		{why: "exactly N, paged", query: "resourceVersion=103&resourceVersionMatch=Exact&limit=1", code: 200, keys: "a/p1", rv: "103", more: true},
		{why: "exactly the RV of an empty server", query: "resourceVersion=100&resourceVersionMatch=Exact", code: 200, keys: "", rv: "100"},
		{why: "exactly now", query: "resourceVersion=106&resourceVersionMatch=Exact", code: 200, keys: at106, rv: "106"},
		{why: "a limit that just fits leaves no token", query: "limit=3", code: 200, keys: at106, rv: "106"},
		{why: "a negative limit is none", query: "limit=-1", code: 200, keys: at106, rv: "106"},

		{why: "the window starts at 100", query: "resourceVersion=99&resourceVersionMatch=Exact", code: 410},
		{why: "the same by the legacy rule", query: "resourceVersion=99&limit=5", code: 410},
		{why: "an old N is no limit for not older", query: "resourceVersion=1", code: 200, keys: at106, rv: "106"},
		{why: "a future N is waited for", query: "resourceVersion=107", code: 504, waited: 3 * time.Second},
		{why: "exactly a future N", query: "resourceVersion=107&resourceVersionMatch=Exact", code: 504, waited: 3 * time.Second},

		{why: "RV is no number", query: "resourceVersion=x", code: 400},
		{why: "RV below zero", query: "resourceVersion=-1", code: 400},
		{why: "match without RV", query: "resourceVersionMatch=Exact", code: 422},
		{why: "exact 0", query: "resourceVersion=0&resourceVersionMatch=Exact", code: 422},
		{why: "unknown match", query: "resourceVersion=5&resourceVersionMatch=Newest", code: 422},
		{why: "match with continue", query: "resourceVersion=5&resourceVersionMatch=Exact&continue=x", code: 422},
		{why: "sendInitialEvents on a list", query: "sendInitialEvents=true", code: 422},
		{why: "RV with continue", query: "resourceVersion=5&continue=" + tokenAfter("a/p1", "", 103).encode(), code: 400},
		{why: "continue is no token", query: "continue=x", code: 400},
		{why: "limit is no number", query: "limit=x", code: 400},
		{why: "bad label selector", query: "labelSelector=" + url.QueryEscape("a in (b"), code: 400},
		{why: "bad field selector", query: "fieldSelector=" + url.QueryEscape("a"), code: 400},
		{why: "unknown field", query: "fieldSelector=" + url.QueryEscape("spec.color=red"), code: 400},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := history(t)
				start := time.Now()
				a := get(t, s, "/api/v1/pods?"+tc.query)
				if waited := time.Since(start); waited != tc.waited {
					t.Errorf("took %v, want %v", waited, tc.waited)
				}
				if a.code != tc.code {
					t.Fatalf("%d, want %d: %s", a.code, tc.code, a.body)
				}
				if tc.code != 200 {
					if st := a.status(t); int(st.Code) != tc.code || st.Kind != "Status" || st.Status != "Failure" {
						t.Errorf("Status is %+v", st)
					}
					return
				}
				l := a.list(t)
				if l.keys() != tc.keys || l.Metadata.ResourceVersion != tc.rv || (l.Metadata.Continue != "") != tc.more {
					t.Errorf("%q @%s more=%v, want %q @%s more=%v", l.keys(), l.Metadata.ResourceVersion, l.Metadata.Continue != "", tc.keys, tc.rv, tc.more)
				}
			})
		})
	}
}

// L2: a list that waits is answered as soon as the RV is reached.
func TestListWaitsForFutureRV(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := history(t)
		go func() {
			time.Sleep(2 * time.Second)
			put(t, s, pod("a", "p5"))
		}()
		start := time.Now()
		l := get(t, s, "/api/v1/pods?resourceVersion=107").list(t)
		if took := time.Since(start); took != 2*time.Second || l.Metadata.ResourceVersion != "107" {
			t.Errorf("took %v, RV %s", took, l.Metadata.ResourceVersion)
		}
		if n := len(s.cache.waiters); n != 0 {
			t.Errorf("%d waiters left", n)
		}
	})
}

// L3: all pages show one state, whatever is written in between, and carry its
// RV.
func TestPagesShowOneState(t *testing.T) {
	s := New()
	for i := range 10 {
		put(t, s, pod("a", fmt.Sprintf("p%d", i)))
	}
	for _, neighbour := range []string{"a-b", "a0", "b"} {
		put(t, s, pod(neighbour, "p"))
	}
	var got string
	var remaining []int64
	token := ""
	for page := 0; page == 0 || token != ""; page++ {
		l := get(t, s, "/api/v1/namespaces/a/pods?limit=4&continue="+token).list(t)
		if l.Metadata.ResourceVersion != "113" {
			t.Errorf("page %d is at %s", page, l.Metadata.ResourceVersion)
		}
		got += l.keys() + "|"
		remaining = append(remaining, -1)
		if r := l.Metadata.RemainingItemCount; r != nil {
			remaining[page] = *r
		}
		token = l.Metadata.Continue
		// None of this may show.
		remove(t, s, "a", fmt.Sprintf("p%d", page))
		remove(t, s, "a", fmt.Sprintf("p%d", 9-page))
		put(t, s, pod("a", fmt.Sprintf("p5-%d", page)))
		put(t, s, pod("a", "p6", "changed", fmt.Sprint(page)))
	}
	if want := "a/p0 a/p1 a/p2 a/p3|a/p4 a/p5 a/p6 a/p7|a/p8 a/p9|"; got != want {
		t.Errorf("pages\n%s\nwant\n%s", got, want)
	}
	if fmt.Sprint(remaining) != "[6 2 -1]" {
		t.Errorf("remainingItemCount %v", remaining)
	}
}

// L3, S7: an expired token gets 410 with one that goes on in the newest state.
func TestExpiredToken(t *testing.T) {
	for _, scope := range []string{"/api/v1/pods", "/api/v1/namespaces/a/pods"} {
		s := New()
		for i := range 6 {
			put(t, s, pod("a", fmt.Sprintf("p%d", i)))
		}
		first := get(t, s, scope+"?limit=2").list(t)
		put(t, s, pod("a", "p1x"))
		remove(t, s, "a", "p4")
		s.Compact()

		a := get(t, s, scope+"?limit=2&continue="+first.Metadata.Continue)
		st := a.status(t)
		if a.code != 410 || st.Reason != metav1.StatusReasonExpired || st.Continue == "" {
			t.Fatalf("%s: %d %s", scope, a.code, a.body)
		}
		rest := get(t, s, scope+"?limit=2&continue="+st.Continue).list(t)
		if rest.keys() != "a/p1x a/p2" || rest.Metadata.ResourceVersion != "108" {
			t.Errorf("%s: went on with %q @%s", scope, rest.keys(), rest.Metadata.ResourceVersion)
		}
		end := get(t, s, scope+"?continue="+rest.Metadata.Continue).list(t)
		if end.keys() != "a/p3 a/p5" {
			t.Errorf("%s: ended with %q", scope, end.keys())
		}
	}
}

// S5: byte order of the storage key, and a namespace is a path, not a prefix.
func TestListOrder(t *testing.T) {
	s := New()
	for _, p := range []*corev1.Pod{pod("a", "z"), pod("a-b", "x"), pod("b", "a"), pod("a", "Z"), pod("a", "z0"), pod("a1", "x")} {
		put(t, s, p)
	}
	if got, want := get(t, s, "/api/v1/pods").list(t).keys(), "a-b/x a/Z a/z a/z0 a1/x b/a"; got != want {
		t.Errorf("all: %q, want %q", got, want)
	}
	if got, want := get(t, s, "/api/v1/namespaces/a/pods").list(t).keys(), "a/Z a/z a/z0"; got != want {
		t.Errorf("a: %q, want %q", got, want)
	}
	if got := get(t, s, "/api/v1/namespaces/c/pods").list(t); got.keys() != "" || got.Items == nil {
		t.Errorf("an empty namespace lists %#v", got.Items)
	}
	objs, rv, err := s.List(Pods().GVR, "a")
	if err != nil || len(objs) != 3 || rv != "106" || objs[0].(*corev1.Pod).Name != "Z" {
		t.Errorf("direct list: %d objects, RV %s, %v", len(objs), rv, err)
	}
}

func TestListSelectors(t *testing.T) {
	s := New()
	for i := range 6 {
		p := pod("a", fmt.Sprintf("p%d", i), "app", []string{"web", "db"}[i%2])
		p.Spec.NodeName = []string{"n1", "n2", "n3"}[i%3]
		p.Status.Phase = corev1.PodRunning
		p.Status.PodIP = fmt.Sprintf("10.0.0.%d", i)
		put(t, s, p)
	}
	for query, want := range map[string]string{
		"labelSelector=app=web":                                         "a/p0 a/p2 a/p4",
		"labelSelector=app!=web":                                        "a/p1 a/p3 a/p5",
		"labelSelector=app+in+(db),!x":                                  "a/p1 a/p3 a/p5",
		"fieldSelector=spec.nodeName=n1":                                "a/p0 a/p3",
		"fieldSelector=spec.host=n1":                                    "a/p0 a/p3",
		"fieldSelector=status.podIP=10.0.0.4":                           "a/p4",
		"fieldSelector=status.podIPs=10.0.0.4":                          "",
		"fieldSelector=metadata.name=p2":                                "a/p2",
		"fieldSelector=metadata.namespace=b":                            "",
		"fieldSelector=spec.nodeName=n1,metadata.name!=p0":              "a/p3",
		"fieldSelector=spec.nodeName=n1&labelSelector=app=db":           "a/p3",
		"labelSelector=app=web&limit=2":                                 "a/p0 a/p2",
		"fieldSelector=status.phase=Running&labelSelector=app=db&x=y":   "a/p1 a/p3 a/p5",
		"resourceVersion=103&limit=9&labelSelector=app=web":             "a/p0 a/p2",
		"resourceVersion=103&resourceVersionMatch=Exact&fieldSelector=": "a/p0 a/p1 a/p2",
	} {
		l := get(t, s, "/api/v1/pods?"+query).list(t)
		if l.keys() != want {
			t.Errorf("%s: %q, want %q", query, l.keys(), want)
		}
		if l.Metadata.RemainingItemCount != nil {
			t.Errorf("%s: a filtered list has a remaining count", query)
		}
	}
	// The next page of a filtered list.
	l := get(t, s, "/api/v1/pods?labelSelector=app=web&limit=2").list(t)
	l = get(t, s, "/api/v1/pods?labelSelector=app=web&limit=2&continue="+l.Metadata.Continue).list(t)
	if l.keys() != "a/p4" || l.Metadata.Continue != "" {
		t.Errorf("second page: %q, token %q", l.keys(), l.Metadata.Continue)
	}
}

// L4: watching from a list's RV continues it.
func TestWatchContinuesList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := history(t)
		for _, query := range []string{"", "resourceVersion=103&resourceVersionMatch=Exact", "limit=1"} {
			l := get(t, s, "/api/v1/pods?"+query).list(t)
			w := watch(t, s, "/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion="+l.Metadata.ResourceVersion)
			events, _ := w.rest(t)
			want := ""
			if l.Metadata.ResourceVersion == "103" {
				want = lines("DELETED a/p2@105", "ADDED a/p4@106")
			}
			if text(events) != want {
				t.Errorf("after %q: %q, want %q", query, text(events), want)
			}
		}
	})
}
