package reflector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

const halfway = "7m30s" // the timeout that Rand 0.5 chooses

// TestRun_Story is one long run: pages, events, bookmarks, a clean end, a
// broken stream, and a relist.
func TestRun_Story(t *testing.T) {
	f := &fake{
		lists: []fakePage{
			{items: []object.Item[obj]{item("a", "5")}, meta: ListMeta{ResourceVersion: "10", Continue: "t"}},
			{items: []object.Item[obj]{item("b", "7")}, meta: ListMeta{ResourceVersion: "10"}},
			{items: []object.Item[obj]{item("c", "40")}, meta: ListMeta{ResourceVersion: "40"}},
		},
		watches: []fakeStream{
			{events: []Event[obj]{added("c", "11"), bookmark("12"), deleted("a", "13")}, every: time.Second, end: io.EOF},
			{events: []Event[obj]{added("d", "9"), added("d", "14")}, every: time.Second, end: errReset},
			{every: time.Second, end: errGone},
			{},
		},
	}
	sink, status := drive(t, f, Options{}, time.Minute)
	same(t, "requests", f.requests(),
		"0s list rv=0 match=NotOlderThan limit=500 continue=",
		"0s list rv= match= limit=500 continue=t",
		"0s watch rv=10 timeout="+halfway,
		"4.4s watch rv=13 timeout="+halfway,
		"7.8s watch rv=14 timeout="+halfway,                      // after half of 0.8 s
		"9.6s list rv=14 match=NotOlderThan limit=500 continue=", // after half of 1.6 s
		"9.6s watch rv=40 timeout="+halfway,
	)
	same(t, "sink", sink.log(),
		"replace 2 items at 10",
		"ADDED c at 11", "bookmark 12", "DELETED a at 13",
		"ADDED d at 14",
		"replace 1 items at 40 because Expired",
	)
	if status.Lists != 2 || status.Watches != 4 || status.Dropped != 1 || status.Relists[RelistExpired] != 1 ||
		status.Phase != Watching || status.ResourceVersion != "40" || status.LastError != nil || status.Attempts != 0 {
		t.Errorf("status %+v", status)
	}
}

// TestF33_EmptyStreams: twenty watches that end at once make no busy loop.
func TestF33_EmptyStreams(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}}
	for range 20 {
		f.watches = append(f.watches, fakeStream{end: io.EOF})
	}
	_, status := drive(t, f, Options{Rand: func() float64 { return 1 }}, 2*time.Minute)
	// 0.8 + 1.6 + 3.2 + 6.4 + 12.8 + 25.6 s, then every 30 s.
	if status.Watches != 9 || status.Attempts != 9 || status.Lists != 1 || status.Phase != Waiting || !errors.Is(status.LastError, errEmpty) {
		t.Errorf("status %+v", status)
	}
}

// TestI5_ExpiredTwice: two 410s without progress lead to the most recent state.
func TestI5_ExpiredTwice(t *testing.T) {
	f := &fake{
		lists:   []fakePage{onePage, onePage, onePage},
		watches: []fakeStream{{end: errGone}, {err: errGone}, {}},
	}
	sink, _ := drive(t, f, Options{}, time.Minute)
	same(t, "requests", f.requests(),
		"0s list rv=0 match=NotOlderThan limit=500 continue=",
		"0s watch rv=10 timeout="+halfway,
		"400ms list rv=10 match=NotOlderThan limit=500 continue=",
		"400ms watch rv=10 timeout="+halfway,
		"1.2s list rv= match= limit=500 continue=",
		"1.2s watch rv=10 timeout="+halfway,
	)
	same(t, "sink", sink.log(), "replace 2 items at 10", "replace 2 items at 10 because Expired", "replace 2 items at 10 because Expired")
}

// TestF21_PageExpired: the pages at hand are dropped, and the token that came
// with the error isn't used.
func TestF21_PageExpired(t *testing.T) {
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired, ListMeta: metav1.ListMeta{Continue: "inconsistent"}}}
	first := fakePage{items: []object.Item[obj]{item("a", "5")}, meta: ListMeta{ResourceVersion: "10", Continue: "t"}}
	f := &fake{
		lists:   []fakePage{first, {err: gone}, first, {items: []object.Item[obj]{item("b", "1")}, err: gone}, onePage},
		watches: []fakeStream{{}},
	}
	sink, _ := drive(t, f, Options{}, time.Minute)
	same(t, "requests", f.requests(),
		"0s list rv=0 match=NotOlderThan limit=500 continue=",
		"0s list rv= match= limit=500 continue=t",
		"0s list rv= match= limit=500 continue=",
		"0s list rv= match= limit=500 continue=t",
		"400ms list rv= match= limit=0 continue=",
		"400ms watch rv=10 timeout="+halfway,
	)
	same(t, "sink", sink.log(), "replace 2 items at 10")
}

// TestPageFails: a page that broke is fetched again, without what came of it.
func TestPageFails(t *testing.T) {
	f := &fake{
		lists: []fakePage{
			{items: []object.Item[obj]{item("a", "5")}, meta: ListMeta{ResourceVersion: "10", Continue: "t"}},
			{items: []object.Item[obj]{item("b", "7"), item("c", "8")}, err: io.ErrUnexpectedEOF},
			{items: []object.Item[obj]{item("b", "7")}, meta: ListMeta{ResourceVersion: "10"}},
		},
		watches: []fakeStream{{}},
	}
	sink, status := drive(t, f, Options{}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10")
	if status.Lists != 1 || len(f.requests()) != 4 {
		t.Errorf("%d lists, requests %q", status.Lists, f.requests())
	}
}

// TestF28_KeyTwice: pages of two versions may hold a key twice; the newest wins.
func TestF28_KeyTwice(t *testing.T) {
	got := newestOnly([]object.Item[obj]{item("b", "7"), item("a", "5"), item("b", "9"), item("a", "4"), item("c", "x")})
	var words []string
	for _, it := range got {
		words = append(words, it.Key.String()+"@"+it.ResourceVersion)
	}
	same(t, "items", words, "b@9", "a@5", "c@x")
	f := &fake{
		lists: []fakePage{
			{items: []object.Item[obj]{item("a", "5"), item("b", "7")}, meta: ListMeta{ResourceVersion: "10", Continue: "t"}},
			{items: []object.Item[obj]{item("b", "11")}, meta: ListMeta{ResourceVersion: "12"}},
		},
		watches: []fakeStream{{}},
	}
	sink, _ := drive(t, f, Options{}, time.Second)
	same(t, "sink", sink.log(), "replace 2 items at 10")
	same(t, "keys", sink.keys(), "a@5", "b@11")
	ascending := []object.Item[obj]{item("a", "5"), item("b", "9")}
	if got := newestOnly(ascending); &got[0] != &ascending[0] || len(got) != 2 {
		t.Error("a sound list was touched")
	}
}

// TestF22_StaleList: a list older than what the sink has changes nothing.
func TestF22_StaleList(t *testing.T) {
	stale := fakePage{meta: ListMeta{ResourceVersion: "3"}}
	f := &fake{
		lists:   []fakePage{onePage, stale, onePage},
		watches: []fakeStream{{end: errGone}, {}},
	}
	sink, _ := drive(t, f, Options{}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "replace 2 items at 10 because Expired")
}

// TestF55_Rollback: the most recent state is older than what the sink has.
func TestF55_Rollback(t *testing.T) {
	var log bytes.Buffer
	old := fakePage{items: []object.Item[obj]{item("a", "2")}, meta: ListMeta{ResourceVersion: "3"}}
	f := &fake{lists: []fakePage{onePage, old, old}, watches: []fakeStream{{end: errGone}, {}}}
	sink, status := drive(t, f, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "replace 1 items at 3 because Rollback")
	if status.ResourceVersion != "3" || status.Relists[RelistRollback] != 1 || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("status %+v\n%s", status, &log)
	}
}

// TestF55_DeafWatches: a watch at a version that a restored server hasn't
// reached is silent, and often doesn't get as far as a clean end: an idle limit
// ends it, or something between does that cuts quiet connections. The probe
// waited for a clean end after two minutes, so it never came.
func TestF55_DeafWatches(t *testing.T) {
	old := fakePage{items: []object.Item[obj]{item("a", "2")}, meta: ListMeta{ResourceVersion: "3"}}
	for name, c := range map[string]struct {
		opts   Options
		stream fakeStream
	}{
		"an idle limit":                   {Options{IdleTimeout: 3 * time.Minute}, fakeStream{}},
		"a server that never ends them":   {Options{}, fakeStream{}},
		"connections cut when idle":       {Options{}, fakeStream{every: time.Minute, end: errReset}},
		"watches ended when idle":         {Options{}, fakeStream{every: time.Minute, end: io.EOF}},
		"watches that end almost at once": {Options{}, fakeStream{every: time.Second, end: io.EOF}},
	} {
		f := &fake{lists: []fakePage{onePage, {err: errTooNew}, old}}
		for range 20 {
			f.watches = append(f.watches, c.stream)
		}
		sink, _ := drive(t, f, c.opts, 9*time.Minute)
		if got := sink.log(); len(got) != 2 || got[1] != "replace 1 items at 3 because Rollback" {
			t.Errorf("%s: the rollback wasn't noticed: %q", name, f.requests())
		}
	}
}

// TestF34_ShortStreams: watches that each bring a change and end at once are
// opened again at a pace of the client's, not of the server's.
func TestF34_ShortStreams(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}}
	for n := range 1000 {
		f.watches = append(f.watches, fakeStream{events: []Event[obj]{added("c", strconv.Itoa(11+n))}, end: io.EOF})
	}
	_, status := drive(t, f, Options{}, time.Minute)
	if status.Watches < 100 || status.Watches > 200 || status.Phase != Watching || status.Attempts != 0 || status.LastError != nil {
		t.Errorf("a minute of short watches: %+v", status)
	}
}

// TestTokensInACircle: pages that lead back to one of them, at once or after
// some others, are no list. Only a token that led to itself was found, and any
// other circle was followed, and its objects kept, until memory ran out.
func TestTokensInACircle(t *testing.T) {
	for _, c := range []struct{ before, around int }{{0, 1}, {0, 2}, {0, 7}, {5, 1}, {3, 4}} {
		const most = 100
		f := &fake{}
		for n := range most {
			if n >= c.before {
				n = c.before + (n-c.before)%c.around
			}
			f.lists = append(f.lists, fakePage{items: []object.Item[obj]{item("a", "5")}, meta: ListMeta{ResourceVersion: "10", Continue: strconv.Itoa(n)}})
		}
		_, status := drive(t, f, Options{Rand: func() float64 { return 1 }}, time.Millisecond)
		if asked := most - len(f.lists); !errors.Is(status.LastError, errLoop) || asked > 3*(c.before+c.around) {
			t.Errorf("%d tokens and then a circle of %d: %d pages, %v", c.before, c.around, asked, status.LastError)
		}
	}
}

// TestI11_Silence: an answer that doesn't come is given up, and nothing lost.
func TestI11_Silence(t *testing.T) {
	f := &fake{} // no list is answered
	_, status := drive(t, f, Options{}, 91*time.Second)
	if status.Lists != 2 || !errors.Is(status.LastError, errSilent) {
		t.Errorf("lists: %+v", status)
	}
	f = &fake{lists: []fakePage{onePage}, watches: []fakeStream{{}, {}}} // no watch says anything
	_, status = drive(t, f, Options{}, 7*time.Minute+31*time.Second)
	if status.Watches != 1 {
		t.Errorf("before timeout and slack: %+v", status)
	}
	f = &fake{lists: []fakePage{onePage}, watches: []fakeStream{{}, {}}}
	_, status = drive(t, f, Options{}, 8*time.Minute+time.Millisecond)
	if !errors.Is(status.LastError, errSilent) {
		t.Errorf("after timeout and slack: %+v", status)
	}
	f = &fake{lists: []fakePage{onePage, onePage}, watches: []fakeStream{{}, {}}} // the second answers a probe
	_, status = drive(t, f, Options{}, 8*time.Minute+time.Second)
	if status.Watches != 2 || status.Lists != 1 || status.LastError != nil {
		t.Errorf("after the probe: %+v", status)
	}
}

// TestI10_RetryAfter: the server's wish comes first, once, and then a part of
// the backoff.
func TestI10_RetryAfter(t *testing.T) {
	busy := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 429, Reason: metav1.StatusReasonTooManyRequests, Details: &metav1.StatusDetails{RetryAfterSeconds: 5}}}
	f := &fake{lists: []fakePage{{err: busy}, {err: busy}, onePage}, watches: []fakeStream{{err: busy}, {}}}
	_, status := drive(t, f, Options{}, time.Minute)
	same(t, "requests", f.requests(),
		"0s list rv=0 match=NotOlderThan limit=500 continue=",
		"5.4s list rv=0 match=NotOlderThan limit=500 continue=",
		"11.2s list rv=0 match=NotOlderThan limit=500 continue=",
		"11.2s watch rv=10 timeout="+halfway,
		"17.8s watch rv=10 timeout="+halfway,
	)
	if status.Lists != 3 {
		t.Errorf("%d lists", status.Lists)
	}
}

func TestFailFast(t *testing.T) {
	for _, code := range []int{401, 403, 404, 405} {
		synctest.Test(t, func(t *testing.T) {
			want := refusal(code, "")
			f := &fake{lists: []fakePage{{err: want}}}
			r := New[obj](f, newRecorder[obj](), Options{FailFast: true, WatchList: WatchListNever})
			if err := r.Run(t.Context()); err != want {
				t.Errorf("%d: Run returned %v", code, err)
			}
			if st := r.Status(); st.Phase != Stopped || st.LastError != want || st.Attempts != 1 {
				t.Errorf("%d: status %+v", code, st)
			}
			f = &fake{lists: []fakePage{onePage}, watches: []fakeStream{{err: want}}}
			if err := New[obj](f, newRecorder[obj](), Options{FailFast: true, WatchList: WatchListNever}).Run(t.Context()); err != want {
				t.Errorf("%d when watching: Run returned %v", code, err)
			}
		})
	}
	// Nothing else ends a run.
	f := &fake{lists: []fakePage{{err: refusal(500, "")}, {err: refusal(400, "")}, onePage}, watches: []fakeStream{{}}}
	sink, _ := drive(t, f, Options{FailFast: true}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10")
}

func TestRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startSource[obj](t, nil, &fake{}, Options{})
		if err := r.Run(t.Context()); err != ErrAlreadyRun {
			t.Errorf("while running: %v", err)
		}
		r.end()
		if err := r.Run(t.Context()); err != ErrAlreadyRun {
			t.Errorf("after running: %v", err)
		}
		if st := r.Status(); st.Phase != Stopped {
			t.Errorf("status %+v", st)
		}
	})
}

func TestSinkFails(t *testing.T) {
	broken := errors.New("disk full")
	synctest.Test(t, func(t *testing.T) {
		sink := newRecorder[obj]()
		sink.fail = broken
		f := &fake{lists: []fakePage{onePage}}
		if err := New[obj](f, sink, Options{WatchList: WatchListNever}).Run(t.Context()); err != broken {
			t.Errorf("Run returned %v", err)
		}
	})
	// A sink that gives up because the run is over is no failure.
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sink := newRecorder[obj]()
		sink.fail = context.Canceled
		sink.block = func(ctx context.Context) { <-ctx.Done() }
		time.AfterFunc(time.Second, cancel)
		if err := New[obj](&fake{lists: []fakePage{onePage}}, sink, Options{WatchList: WatchListNever}).Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// TestP12_StopInEveryPhase: end checks that it takes no time at all.
func TestP12_StopInEveryPhase(t *testing.T) {
	for why, script := range map[string]func() *fake{
		"listing":         func() *fake { return &fake{} },
		"opening a watch": func() *fake { return &fake{lists: []fakePage{onePage}} },
		"reading":         func() *fake { return &fake{lists: []fakePage{onePage}, watches: []fakeStream{{}}} },
		"waiting to list": func() *fake { return &fake{lists: []fakePage{{err: errReset}}} },
		"waiting to watch": func() *fake {
			return &fake{lists: []fakePage{onePage}, watches: []fakeStream{{err: errReset}}}
		},
		"relisting": func() *fake { return &fake{lists: []fakePage{onePage}, watches: []fakeStream{{end: errGone}}} },
	} {
		t.Run(why, func(t *testing.T) {
			drive(t, script(), Options{}, 0)
			drive(t, script(), Options{}, time.Second)
		})
	}
}
