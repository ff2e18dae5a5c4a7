package apisim

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// twoServers is a cluster with one pod, a/p0 at 101, that both servers know.
func twoServers(t testing.TB, opts ...Option) (*Cluster, *Server, *Server) {
	t.Helper()
	c, err := NewCluster(2, opts...)
	if err != nil {
		t.Fatal(err)
	}
	put(t, c.Server(0), pod("a", "p0"))
	return c, c.Server(0), c.Server(1)
}

func TestClusterSize(t *testing.T) {
	for _, n := range []int{-1, 0, maxServers + 1} {
		if _, err := NewCluster(n); err == nil {
			t.Errorf("%d servers are possible", n)
		}
	}
	c, err := NewCluster(3)
	if err != nil || len(c.Servers()) != 3 || c.Server(1).Cluster() != c {
		t.Errorf("%v, %d servers", err, len(c.Servers()))
	}
}

// C1: what is written through one server is listed and watched through the
// other, under the same numbers.
func TestServersShareOneHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s0, s1 := twoServers(t)
		w := watch(t, s1, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1")
		put(t, s1, pod("a", "p1"))
		remove(t, s0, "a", "p0")
		if events, _ := w.rest(t); text(events) != lines("ADDED a/p0@101", "ADDED a/p1@102", "DELETED a/p0@103") {
			t.Errorf("watch through the other server:\n%s", text(events))
		}
		for i, s := range []*Server{s0, s1} {
			if l := get(t, s, "/api/v1/pods").list(t); l.keys() != "a/p1" || l.Metadata.ResourceVersion != "103" {
				t.Errorf("server %d: %q @%s", i, l.keys(), l.Metadata.ResourceVersion)
			}
		}
		if a, b := s0.Stats().Count("list", "pods"), s1.Stats().Count("watch", "pods"); a != 1 || b != 1 {
			t.Errorf("each server counts its own requests: %d, %d", a, b)
		}
	})
}

// C2: what a frozen server answers while the store is at 103 and it has heard of 101.
func TestK8_StaleServer(t *testing.T) {
	for _, tc := range []struct {
		why, query string
		code       int
		keys, rv   string
		waited     time.Duration
	}{
		{why: "F22: 0 is answered from the cache, older than what another server showed", query: "resourceVersion=0", code: 200, keys: "a/p0", rv: "101"},
		{why: "not older than what it has", query: "resourceVersion=101&resourceVersionMatch=NotOlderThan", code: 200, keys: "a/p0", rv: "101"},
		{why: "the same, paged", query: "resourceVersion=101&resourceVersionMatch=NotOlderThan&limit=5", code: 200, keys: "a/p0", rv: "101"},
		{why: "F19: not older than what it has not", query: "resourceVersion=102&resourceVersionMatch=NotOlderThan", code: 504, waited: 3 * time.Second},
		{why: "exactly what it has not: the store is not asked", query: "resourceVersion=103&resourceVersionMatch=Exact", code: 504, waited: 3 * time.Second},
		{why: "exactly what it has", query: "resourceVersion=101&resourceVersionMatch=Exact", code: 200, keys: "a/p0", rv: "101"},
		{why: "K7: newest waits for the cache and then asks the store", query: "", code: 200, keys: "a/p0 a/p1 a/p2", rv: "103", waited: 3 * time.Second},
		{why: "K7: paged too", query: "limit=2", code: 200, keys: "a/p0 a/p1", rv: "103", waited: 3 * time.Second},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, fresh, stale := twoServers(t)
				stale.SetLag(Frozen)
				put(t, fresh, pod("a", "p1"))
				put(t, stale, pod("a", "p2")) // writes go to the store, through any server
				if got := stale.SeenResourceVersion(); got != "101" {
					t.Fatalf("a frozen server is at %s", got)
				}
				start := time.Now()
				a := get(t, stale, "/api/v1/pods?"+tc.query)
				if waited := time.Since(start); waited != tc.waited || a.code != tc.code {
					t.Fatalf("%d after %v, want %d after %v: %s", a.code, waited, tc.code, tc.waited, a.body)
				}
				if tc.code != 200 {
					st := a.status(t)
					if len(st.Details.Causes) != 1 || st.Details.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge ||
						a.header.Get("Retry-After") != "1" || !strings.HasSuffix(st.Message, "current: 101") {
						t.Errorf("%v %+v", a.header, st)
					}
					return
				}
				if l := a.list(t); l.keys() != tc.keys || l.Metadata.ResourceVersion != tc.rv {
					t.Errorf("%q @%s, want %q @%s", l.keys(), l.Metadata.ResourceVersion, tc.keys, tc.rv)
				}
				if l := get(t, fresh, "/api/v1/pods?resourceVersion=0").list(t); l.Metadata.ResourceVersion != "103" {
					t.Errorf("the other server is at %s", l.Metadata.ResourceVersion)
				}
			})
		})
	}
}

// C2: a get shows the store without an RV, the cache with one.
func TestGetFromStaleServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, fresh, stale := twoServers(t)
		stale.SetLag(Frozen)
		put(t, fresh, pod("a", "p0", "new", "yes"))
		put(t, fresh, pod("a", "p1"))
		for url, want := range map[string]string{
			"/api/v1/namespaces/a/pods/p0":                     `"resourceVersion":"102"`,
			"/api/v1/namespaces/a/pods/p0?resourceVersion=0":   `"resourceVersion":"101"`,
			"/api/v1/namespaces/a/pods/p0?resourceVersion=101": `"resourceVersion":"101"`,
			"/api/v1/namespaces/a/pods/p0?resourceVersion=102": `"code":504`,
			"/api/v1/namespaces/a/pods/p1":                     `"resourceVersion":"103"`,
			"/api/v1/namespaces/a/pods/p1?resourceVersion=0":   `"code":404`,
		} {
			if a := get(t, stale, url); !strings.Contains(string(a.body), want) {
				t.Errorf("%s: no %s in %s", url, want, a.body)
			}
		}
	})
}

// C2, K25, F53: a watch that moves to a server behind it opens, waits, and gets
// only what it has not seen.
func TestK25_WatchOnStaleServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, fresh, stale := twoServers(t)
		stale.SetLag(Frozen)
		put(t, fresh, pod("a", "p1"))
		put(t, fresh, pod("a", "p2")) // 103
		ahead := watch(t, stale, "/api/v1/pods?watch=1&resourceVersion=103&timeoutSeconds=20")
		behind := watch(t, stale, "/api/v1/pods?watch=1&resourceVersion=101&timeoutSeconds=20")
		now := watch(t, stale, "/api/v1/pods?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=20")
		state := watch(t, stale, "/api/v1/pods?"+watchListQuery+"&resourceVersion=0&timeoutSeconds=20")
		time.Sleep(5 * time.Second)
		put(t, fresh, pod("a", "p3"))
		time.Sleep(5 * time.Second)
		stale.SetLag(0)
		for _, tc := range []struct {
			why  string
			w    *stream
			want string
		}{
			{"ahead of the server", ahead, "ADDED a/p3@104"},
			{"where the server is", behind, lines("ADDED a/p1@102", "ADDED a/p2@103", "ADDED a/p3@104")},
			{"from the store's now", now, "ADDED a/p3@104"},
			{"from the cache's state", state, lines("ADDED a/p0@101", "BOOKMARK @101 end", "ADDED a/p1@102", "ADDED a/p2@103", "ADDED a/p3@104", "BOOKMARK @104")},
		} {
			events, _ := tc.w.rest(t)
			if text(events) != tc.want {
				t.Errorf("%s:\n%s\nwant\n%s", tc.why, text(events), tc.want)
			}
			if at := events[0].at; tc.w == ahead && at != 10*time.Second {
				t.Errorf("%s: told at %v", tc.why, at)
			}
		}
	})
}

// C2, K16: a watch-list that wants the newest state from a stale server waits
// three seconds and fails in the stream.
func TestK16_WatchListOnStaleServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, fresh, stale := twoServers(t)
		stale.SetLag(Frozen)
		put(t, fresh, pod("a", "p1"))
		for _, rv := range []string{"", "102"} {
			events, end := watch(t, stale, "/api/v1/pods?"+watchListQuery+"&resourceVersion="+rv).rest(t)
			if text(events) != "ERROR 504" || end != 3*time.Second {
				t.Errorf("from %q: %s after %v", rv, text(events), end)
			}
		}
	})
}

// C2: a lag is a number of revisions, and shrinks as soon as it may.
func TestLagInRevisions(t *testing.T) {
	c, s, stale := twoServers(t)
	stale.SetLag(3)
	var at []string
	for i := range 5 {
		put(t, s, pod("a", fmt.Sprint("q", i)))
		at = append(at, stale.SeenResourceVersion())
	}
	c.Bump(10) // other resources count
	at = append(at, stale.SeenResourceVersion())
	stale.SetLag(1)
	at = append(at, stale.SeenResourceVersion())
	stale.SetLag(100)
	at = append(at, stale.SeenResourceVersion())
	if got := strings.Join(at, " "); got != "101 101 101 102 103 113 115 115" {
		t.Errorf("the server was at %s", got)
	}
	if rv := c.ResourceVersion(); rv != "116" {
		t.Errorf("the store is at %s", rv)
	}
}

// C2: a frozen server is taken along by a history that is too short for its lag.
func TestLagIsBoundedByHistory(t *testing.T) {
	_, s, stale := twoServers(t, WithHistory(4))
	stale.SetLag(Frozen)
	for i := range 10 {
		put(t, s, pod("a", fmt.Sprint("q", i))) // 102 to 111
	}
	l := get(t, stale, "/api/v1/pods?resourceVersion=0").list(t)
	if l.Metadata.ResourceVersion != "107" || len(l.Items) != 7 {
		t.Errorf("%d pods @%s", len(l.Items), l.Metadata.ResourceVersion)
	}
}

// C3, K23, F54: after a restart a server refuses for a while, and then knows
// nothing older than the state it found.
func TestK23_Restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, other := twoServers(t)
		clean := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=101")
		elsewhere := watch(t, other, "/api/v1/pods?watch=1&resourceVersion=101&timeoutSeconds=60")
		time.Sleep(time.Second)
		s.Restart(RestartOptions{NotReady: 30 * time.Second})
		if events, end := clean.rest(t); len(events) != 0 || end != time.Second {
			t.Errorf("watch ended with %v after %v", events, end)
		}
		put(t, s, pod("a", "p1"))

		for _, tc := range []struct {
			why, url string
			code     int
		}{
			{"a list needs the cache", "/api/v1/pods", 429},
			{"0 too", "/api/v1/pods?resourceVersion=0", 429},
			{"a watch too, and says so before the stream", "/api/v1/pods?watch=1&resourceVersion=102", 429},
			{"a watch-list too", "/api/v1/pods?" + watchListQuery, 429},
			{"a page is read from the store", "/api/v1/pods?limit=1", 200},
			{"a page with a selector is not", "/api/v1/pods?limit=1&labelSelector=a", 429},
			{"a get is read from the store", "/api/v1/namespaces/a/pods/p1?resourceVersion=0", 200},
			{"events have no cache", "/api/v1/events", 200},
			{"not ready", "/readyz", 500},
			{"but alive", "/livez", 200},
			{"a watch with a bad RV", "/api/v1/pods?watch=1&resourceVersion=x", 500},
		} {
			if a := get(t, s, tc.url); a.code != tc.code {
				t.Errorf("%s: %d %s", tc.why, a.code, a.body)
			}
		}
		a := get(t, s, "/api/v1/pods")
		if st := a.status(t); a.header.Get("Retry-After") != "1" || st.Reason != metav1.StatusReasonTooManyRequests || st.Message != "storage is (re)initializing" {
			t.Errorf("%v %+v", a.header, st)
		}
		time.Sleep(29 * time.Second)
		if after := get(t, s, "/api/v1/pods").header.Get("Retry-After"); after != "5" {
			t.Errorf("F14: after 29 s, Retry-After is %q", after)
		}
		time.Sleep(time.Second)
		for rv, want := range map[string]string{"101": "ERROR 410", "102": ""} {
			events, _ := watch(t, s, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion="+rv).rest(t)
			if text(events) != want {
				t.Errorf("from %s: %q, want %q", rv, text(events), want)
			}
		}
		if a := get(t, s, "/readyz"); string(a.body) != "ok" {
			t.Errorf("readyz: %s", a.body)
		}
		if events, end := elsewhere.rest(t); text(events) != "ADDED a/p1@102" || end != time.Minute {
			t.Errorf("the other server's watch: %s, ended after %v", text(events), end)
		}
		events, _ := watch(t, other, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=101").rest(t)
		if text(events) != "ADDED a/p1@102" {
			t.Errorf("the other server's window: %s", text(events))
		}
	})
}

// C3: a restart can break connections.
func TestRestartCutsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		put(t, s, pod("a", "p"))
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100")
		if e, err := w.next(); err != nil || e.String() != "ADDED a/p@101" {
			t.Fatal(e, err)
		}
		s.Restart(RestartOptions{Cut: true})
		if _, err := w.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("ended with %v", err)
		}
		synctest.Wait()
		if n := s.Stats().Watches; n != 0 {
			t.Errorf("%d watches left", n)
		}
		if a := get(t, s, "/api/v1/pods"); a.code != http.StatusOK {
			t.Errorf("ready at once, but %d", a.code)
		}
	})
}

// C4, K10, K26: compaction takes old states and tokens away, and no watch window.
func TestK10_K26_Compact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, _ := twoServers(t)
		put(t, s, pod("a", "p1"))
		put(t, s, pod("a", "p2")) // 103
		first := get(t, s, "/api/v1/pods?limit=1").list(t)
		put(t, s, pod("a", "p3"))
		if err := c.Compact("104"); err != nil {
			t.Fatal(err)
		}
		if err := c.Compact("103"); err != nil { // older: no change
			t.Fatal(err)
		}
		a := get(t, s, "/api/v1/pods?resourceVersion=103&resourceVersionMatch=Exact")
		if st := a.status(t); a.code != 410 || st.Reason != metav1.StatusReasonExpired || st.Continue != "" {
			t.Errorf("exact list: %s", a.body)
		}
		if l := get(t, s, "/api/v1/pods?resourceVersion=104&resourceVersionMatch=Exact").list(t); len(l.Items) != 4 {
			t.Errorf("at the compacted RV: %q", l.keys())
		}
		a = get(t, s, "/api/v1/pods?limit=1&continue="+first.Metadata.Continue)
		st := a.status(t)
		if a.code != 410 || st.Continue == "" {
			t.Fatalf("token: %s", a.body)
		}
		if l := get(t, s, "/api/v1/pods?continue="+st.Continue).list(t); l.keys() != "a/p1 a/p2 a/p3" || l.Metadata.ResourceVersion != "104" {
			t.Errorf("went on with %q @%s", l.keys(), l.Metadata.ResourceVersion)
		}
		events, _ := watch(t, s, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=102").rest(t)
		if text(events) != lines("ADDED a/p2@103", "ADDED a/p3@104") {
			t.Errorf("watch cache: %s", text(events))
		}
		for rv, want := range map[string]string{"102": "ERROR 410", "103": ""} { // events have none; a watch from 103 sees 104
			events, _ := watch(t, s, "/api/v1/events?watch=1&timeoutSeconds=1&resourceVersion="+rv).rest(t)
			if text(events) != want {
				t.Errorf("uncached watch from %s: %q, want %q", rv, text(events), want)
			}
		}
		if err := c.Compact("999"); err == nil {
			t.Error("compacted the future")
		}
	})
}

// C5, K25, F55: after a rollback the counter is lower, and who has seen more
// hears nothing until the counter has passed it.
func TestF55_Rollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, other := twoServers(t)
		put(t, s, pod("a", "p0", "x", "1")) // 102
		put(t, s, pod("a", "p1"))           // 103
		remove(t, s, "a", "p0")             // 104
		put(t, s, pod("a", "p0"))           // 105, another one
		put(t, s, pod("b", "p9"))           // 106
		w := watch(t, other, "/api/v1/pods?watch=1&resourceVersion=106&timeoutSeconds=60")
		if err := c.Rollback("102"); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"", "resourceVersion=0", "resourceVersion=102&resourceVersionMatch=Exact"} {
			l := get(t, other, "/api/v1/pods?"+q).list(t)
			if l.keys() != "a/p0" || l.Metadata.ResourceVersion != "102" || l.Items[0].Labels["x"] != "1" {
				t.Errorf("%q: %q @%s", q, l.keys(), l.Metadata.ResourceVersion)
			}
		}
		for i := range 5 {
			put(t, s, pod("c", fmt.Sprint("n", i))) // 103 to 107
		}
		again := watch(t, other, "/api/v1/pods?watch=1&resourceVersion=106&timeoutSeconds=10")
		for _, w := range []*stream{w, again} {
			if events, _ := w.rest(t); text(events) != "ADDED c/n4@107" {
				t.Errorf("watch from the lost future: %s", text(events))
			}
		}
		events, _ := watch(t, other, "/api/v1/pods?watch=1&resourceVersion=101&timeoutSeconds=1").rest(t)
		if text(events) != "ERROR 410" {
			t.Errorf("new caches know nothing older: %s", text(events))
		}
		for _, tab := range s.store.tables {
			checkNoGarbage(t, tab)
		}
	})
}

func TestRollbackNeedsHistory(t *testing.T) {
	c, s, _ := twoServers(t)
	put(t, s, pod("a", "p1"))
	s.Compact()
	put(t, s, pod("a", "p2"))
	for _, rv := range []string{"101", "104", "x"} {
		if err := c.Rollback(rv); err == nil {
			t.Errorf("rolled back to %s", rv)
		}
	}
	if l := get(t, s, "/api/v1/pods").list(t); len(l.Items) != 3 || l.Metadata.ResourceVersion != "103" {
		t.Errorf("a refused rollback left %q @%s", l.keys(), l.Metadata.ResourceVersion)
	}
}

// C4: the watch window can be smaller than the history.
func TestWatchWindowIsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithWatchWindow(2))
		for i := range 5 {
			put(t, s, pod("a", fmt.Sprint("p", i))) // 101 to 105
		}
		for from, want := range map[string]string{"102": "ERROR 410", "103": lines("ADDED a/p3@104", "ADDED a/p4@105")} {
			events, _ := watch(t, s, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion="+from).rest(t)
			if text(events) != want {
				t.Errorf("from %s: %q, want %q", from, text(events), want)
			}
		}
		if l := get(t, s, "/api/v1/pods?resourceVersion=101&resourceVersionMatch=Exact").list(t); l.keys() != "a/p0" {
			t.Errorf("exact: %q", l.keys())
		}
	})
}

// Uncached resources are read from the store, which waits for nobody.
func TestUncachedFutureRV(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		start := time.Now()
		for _, q := range []string{"resourceVersion=200", "resourceVersion=200&resourceVersionMatch=Exact"} {
			a := get(t, s, "/api/v1/events?"+q)
			if a.code != 504 || a.header.Get("Retry-After") != "" || time.Since(start) != 0 {
				t.Errorf("%s: %d %v after %v", q, a.code, a.header, time.Since(start))
			}
		}
	})
}
