package apisim

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// W1, W2, W5, L5: what a watch starts with. Every watch here ends after 5 s.
func TestWatchMatrix(t *testing.T) {
	state := lines("ADDED a/p1@101", "ADDED a/p3@103", "ADDED a/p4@106")
	const noMatch = "&sendInitialEvents=true&allowWatchBookmarks=true"
	for _, tc := range []struct {
		why, query string
		code       int
		want       string
	}{
		{why: "N: what is above N", query: "&resourceVersion=103", want: lines("DELETED a/p2@105", "ADDED a/p4@106")},
		{why: "N in the middle of nothing", query: "&resourceVersion=104", want: lines("DELETED a/p2@105", "ADDED a/p4@106")},
		{why: "limit and continue are ignored", query: "&resourceVersion=103&limit=1&continue=x", want: lines("DELETED a/p2@105", "ADDED a/p4@106")},
		{why: "the start of the window", query: "&resourceVersion=100", want: lines("ADDED a/p1@101", "ADDED a/p2@102", "ADDED a/p3@103", "DELETED a/p2@105", "ADDED a/p4@106")},
		{why: "now", query: "&resourceVersion=106", want: ""},
		{why: "below the window", query: "&resourceVersion=99", want: "ERROR 410"},
		{why: "a plain watch from the future opens and hears nothing", query: "&resourceVersion=900", want: ""},

		{why: "no RV: the state, unasked", query: "", want: state},
		{why: "0: the state, unasked", query: "&resourceVersion=0", want: state},
		{why: "no RV, with bookmarks: the marker too", query: "&allowWatchBookmarks=true", want: state + "\nBOOKMARK @106 end"},
		{why: "0, with bookmarks: the marker too", query: "&resourceVersion=0&allowWatchBookmarks=true", want: state + "\nBOOKMARK @106 end"},
		{why: "watch-list", query: "&resourceVersionMatch=NotOlderThan" + noMatch, want: state + "\nBOOKMARK @106 end"},
		{why: "watch-list from 0", query: "&resourceVersion=0&resourceVersionMatch=NotOlderThan" + noMatch, want: state + "\nBOOKMARK @106 end"},
		{why: "watch-list from N is the whole state", query: "&resourceVersion=103&resourceVersionMatch=NotOlderThan" + noMatch, want: state + "\nBOOKMARK @106 end"},
		{why: "watch-list from an old N is the whole state", query: "&resourceVersion=1&resourceVersionMatch=NotOlderThan" + noMatch, want: state + "\nBOOKMARK @106 end"},
		{why: "initial events without bookmarks: no marker", query: "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true", want: state},
		{why: "watch-list from the future: 504 in the stream", query: "&resourceVersion=107&resourceVersionMatch=NotOlderThan" + noMatch, want: "ERROR 504"},
		{why: "no initial events: from now", query: "&resourceVersionMatch=NotOlderThan&sendInitialEvents=false", want: ""},
		{why: "no initial events, 0: from now", query: "&resourceVersion=0&resourceVersionMatch=NotOlderThan&sendInitialEvents=false", want: ""},
		{why: "no initial events, N: from N", query: "&resourceVersion=105&resourceVersionMatch=NotOlderThan&sendInitialEvents=false", want: "ADDED a/p4@106"},

		{why: "initial events without match", query: noMatch, code: 422},
		{why: "match without initial events", query: "&resourceVersion=5&resourceVersionMatch=NotOlderThan", code: 422},
		{why: "exact", query: "&resourceVersion=5&resourceVersionMatch=Exact" + noMatch, code: 422},
		{why: "RV is no number", query: "&resourceVersion=x", code: 500},
		{why: "unknown field", query: "&fieldSelector=a=b", code: 400},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := history(t)
				url := "/api/v1/pods?watch=true&timeoutSeconds=5" + tc.query
				if tc.code != 0 {
					if a := get(t, s, url); a.code != tc.code || int(a.status(t).Code) != tc.code {
						t.Fatalf("%d %s, want %d", a.code, a.body, tc.code)
					}
					return
				}
				events, end := watch(t, s, url).rest(t)
				if text(events) != tc.want {
					t.Errorf("got\n%s\nwant\n%s", text(events), tc.want)
				}
				want := 5 * time.Second
				switch tc.want {
				case "ERROR 410":
					want = 0
				case "ERROR 504":
					want = 3 * time.Second
				}
				if end != want {
					t.Errorf("ended after %v, want %v", end, want)
				}
			})
		})
	}
}

// W1: a watch from the future drops what is not above its RV, without a word.
func TestWatchFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=102&timeoutSeconds=1")
		for i := range 4 {
			synctest.Wait()
			put(t, s, pod("a", fmt.Sprint("p", i)))
		}
		if events, _ := w.rest(t); text(events) != lines("ADDED a/p2@103", "ADDED a/p3@104") {
			t.Errorf("got %q", text(events))
		}
	})
}

// W1, S4: creation, change, deletion, and a key that comes back.
func TestWatchEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		w := watch(t, s, "/api/v1/namespaces/a/pods?watch=1&resourceVersion=100&timeoutSeconds=9")
		go func() {
			put(t, s, pod("a", "p"))
			put(t, s, pod("b", "other namespace"[:5]))
			put(t, s, pod("a", "p", "l", "1"))
			time.Sleep(time.Second)
			put(t, s, pod("a", "p", "l", "1")) // S2: changes nothing
			remove(t, s, "a", "p")
			put(t, s, pod("a", "p"))
		}()
		events, _ := w.rest(t)
		if got, want := text(events), lines("ADDED a/p@101", "MODIFIED a/p@103", "DELETED a/p@104", "ADDED a/p@105"); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if a, b := events[2].object, events[3].object; a.UID == b.UID || a.UID != events[0].object.UID || a.Labels["l"] != "1" {
			t.Errorf("deleted %v %v, created %v", a.UID, a.Labels, b.UID)
		}
		if events[1].at != 0 || events[2].at != time.Second {
			t.Errorf("events came at %v and %v", events[1].at, events[2].at)
		}
	})
}

// W4: the four transitions of a selector, and what the body of an exit is.
func TestWatchSelectorTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(withWidgets())
		label := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1&labelSelector=tier=front")
		field := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1&fieldSelector=spec.nodeName=n1")
		step := func(labelValue, node, note string) {
			p := pod("a", "p", "tier", labelValue, "note", note)
			p.Spec.NodeName = node
			put(t, s, p)
		}
		step("back", "n2", "1")  // 101: outside
		step("front", "n1", "2") // 102: enters
		step("front", "n1", "3") // 103: changes
		step("back", "n2", "4")  // 104: leaves
		step("back", "n2", "5")  // 105: changes outside
		step("front", "n1", "6") // 106: enters again
		remove(t, s, "a", "p")   // 107
		for name, w := range map[string]*stream{"label": label, "field": field} {
			events, _ := w.rest(t)
			want := lines("ADDED a/p@102", "MODIFIED a/p@103", "DELETED a/p@104", "ADDED a/p@106", "DELETED a/p@107")
			if text(events) != want {
				t.Fatalf("%s: got\n%s\nwant\n%s", name, text(events), want)
			}
			if got := events[2].object.Labels; got["note"] != "3" || got["tier"] != "front" {
				t.Errorf("%s: the exit has the content %v, want that of before", name, got)
			}
		}
	})
}

// W3: bookmarks come every minute and 2 s before the deadline, if the RV has
// moved on, also when it was another resource that moved it.
func TestBookmarks(t *testing.T) {
	configMap := func(s *Server, name string) {
		put(t, s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}})
	}
	for _, tc := range []struct {
		why, url string
		act      func(*Server)
		want     string
		at       []time.Duration
	}{
		{
			why: "nothing moved: none", url: "/api/v1/pods?watch=1&resourceVersion=101&allowWatchBookmarks=true&timeoutSeconds=130",
			act: func(*Server) {}, want: "",
		},
		{
			why: "every minute and before the end", url: "/api/v1/pods?watch=1&resourceVersion=101&allowWatchBookmarks=true&timeoutSeconds=150",
			act:  func(s *Server) { put(t, s, pod("a", "q")); time.Sleep(70 * time.Second); configMap(s, "c") },
			want: lines("ADDED a/q@102", "BOOKMARK @102", "BOOKMARK @103", "BOOKMARK @103"),
			at:   []time.Duration{0, time.Minute, 2 * time.Minute, 148 * time.Second},
		},
		{
			why: "not asked for: none", url: "/api/v1/pods?watch=1&resourceVersion=101&timeoutSeconds=130",
			act: func(s *Server) { configMap(s, "c") }, want: "",
		},
		{
			why: "what was caught up with is the start", url: "/api/v1/pods?watch=1&resourceVersion=100&allowWatchBookmarks=true&timeoutSeconds=130",
			act: func(*Server) {}, want: "ADDED a/p@101", at: []time.Duration{0},
		},
		{
			why: "a filter hides events, not progress", url: "/api/v1/pods?watch=1&resourceVersion=101&allowWatchBookmarks=true&timeoutSeconds=5&labelSelector=no=such",
			act: func(s *Server) { put(t, s, pod("a", "q")) }, want: "BOOKMARK @102", at: []time.Duration{3 * time.Second},
		},
		{
			why: "no time for one", url: "/api/v1/pods?watch=1&resourceVersion=101&allowWatchBookmarks=true&timeoutSeconds=2",
			act: func(s *Server) { configMap(s, "c") }, want: "",
		},
		{
			why: "events are not cached: the marker only", url: "/api/v1/events?" + watchListQuery + "&timeoutSeconds=130",
			act: func(s *Server) { configMap(s, "c") }, want: "BOOKMARK @101 end", at: []time.Duration{0},
		},
		{
			why: "after the marker as after any start", url: "/api/v1/pods?" + watchListQuery + "&timeoutSeconds=5",
			act:  func(s *Server) { time.Sleep(time.Second); configMap(s, "c") },
			want: lines("ADDED a/p@101", "BOOKMARK @101 end", "BOOKMARK @102"), at: []time.Duration{0, 0, 3 * time.Second},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New()
				put(t, s, pod("a", "p"))
				w := watch(t, s, tc.url)
				go tc.act(s)
				events, _ := w.rest(t)
				if text(events) != tc.want {
					t.Fatalf("got\n%s\nwant\n%s", text(events), tc.want)
				}
				for i, e := range events {
					if e.at != tc.at[i] {
						t.Errorf("%v came at %v, want %v", e, e.at, tc.at[i])
					}
				}
			})
		})
	}
}

// W5: without timeoutSeconds a watch lasts 30 to 60 minutes.
func TestWatchDefaultTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, end := watch(t, New(), "/api/v1/pods?watch=1&resourceVersion=100").rest(t)
		if end < 30*time.Minute || end > time.Hour {
			t.Errorf("ended after %v", end)
		}
	})
}

// S7, W1: what has left the history cannot be watched from.
func TestWatchWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithHistory(3))
		for i := range 5 {
			put(t, s, pod("a", fmt.Sprint("p", i))) // 101 to 105; 103 to 105 are kept
		}
		for from, want := range map[string]string{
			"101": "ERROR 410",
			"102": lines("ADDED a/p2@103", "ADDED a/p3@104", "ADDED a/p4@105"),
			"105": "",
		} {
			events, _ := watch(t, s, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion="+from).rest(t)
			if text(events) != want {
				t.Errorf("from %s: %q, want %q", from, text(events), want)
			}
		}
		// Another resource has a history of its own.
		events, _ := watch(t, s, "/api/v1/nodes?watch=1&timeoutSeconds=1&resourceVersion=100").rest(t)
		if text(events) != "" {
			t.Errorf("nodes: %q", text(events))
		}
		s.Compact()
		for from, want := range map[string]string{"104": "ERROR 410", "105": ""} {
			for _, resource := range []string{"pods", "nodes"} {
				events, _ := watch(t, s, "/api/v1/"+resource+"?watch=1&timeoutSeconds=1&resourceVersion="+from).rest(t)
				if text(events) != want {
					t.Errorf("%s after Compact from %s: %q, want %q", resource, from, text(events), want)
				}
			}
		}
	})
}
