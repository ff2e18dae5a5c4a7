package reflector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/object"
)

type obj = *metav1.PartialObjectMetadata

func item(name, rv string) object.Item[obj] {
	o := &metav1.PartialObjectMetadata{}
	o.Name, o.ResourceVersion, o.UID = name, rv, "u"
	it, err := object.NewItem(o, nil)
	if err != nil {
		panic(err)
	}
	return it
}

func added(name, rv string) Event[obj]   { return Event[obj]{Type: Added, Item: item(name, rv)} }
func deleted(name, rv string) Event[obj] { return Event[obj]{Type: Deleted, Item: item(name, rv)} }
func bookmark(rv string) Event[obj] {
	return Event[obj]{Type: Bookmark, Item: object.Item[obj]{ResourceVersion: rv}}
}

// fake is a scripted Source. Each request takes the next answer; what is
// asked for when the script is over hangs until its context ends.
type fake struct {
	lists   []fakePage
	watches []fakeStream

	mu     sync.Mutex
	began  time.Time
	log    []string // requests, with the time they came
	opened int
	closed int
}

type fakePage struct {
	items []object.Item[obj]
	meta  ListMeta
	err   error
}

type fakeStream struct {
	err    error // of opening
	events []Event[obj]
	every  time.Duration // before each event, and before the end
	end    error         // nil: none, the stream stays open
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.began.IsZero() {
		f.began = time.Now()
	}
	f.log = append(f.log, fmt.Sprintf("%v ", time.Since(f.began))+fmt.Sprintf(format, args...))
}

func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func (f *fake) List(ctx context.Context, o ListOptions, yield func(object.Item[obj]) error) (ListMeta, error) {
	f.note("list rv=%s match=%s limit=%d continue=%s", o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue)
	if len(f.lists) == 0 {
		<-ctx.Done()
		return ListMeta{}, ctx.Err()
	}
	p := f.lists[0]
	f.lists = f.lists[1:]
	for _, it := range p.items {
		if err := yield(it); err != nil {
			return ListMeta{}, err
		}
	}
	return p.meta, p.err
}

func (f *fake) Watch(ctx context.Context, o WatchOptions) (Stream[obj], error) {
	f.note("watch rv=%s timeout=%v", o.ResourceVersion, o.Timeout)
	if len(f.watches) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := f.watches[0]
	f.watches = f.watches[1:]
	if s.err != nil {
		return nil, s.err
	}
	f.mu.Lock()
	f.opened++
	f.mu.Unlock()
	return &fakeReader{fake: f, ctx: ctx, script: s}, nil
}

type fakeReader struct {
	fake   *fake
	ctx    context.Context
	script fakeStream
	once   sync.Once
}

func (r *fakeReader) Next() (Event[obj], error) {
	if len(r.script.events) == 0 && r.script.end == nil {
		<-r.ctx.Done()
		return Event[obj]{}, r.ctx.Err()
	}
	select {
	case <-time.After(r.script.every):
	case <-r.ctx.Done():
		return Event[obj]{}, r.ctx.Err()
	}
	if len(r.script.events) == 0 {
		return Event[obj]{}, r.script.end
	}
	ev := r.script.events[0]
	r.script.events = r.script.events[1:]
	return ev, nil
}

func (r *fakeReader) Close() error {
	r.once.Do(func() {
		r.fake.mu.Lock()
		r.fake.closed++
		r.fake.mu.Unlock()
	})
	return nil
}

func refusal(code int, reason metav1.StatusReason) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: int32(code), Reason: reason, Message: "no"}}
}

var (
	errGone  = refusal(http.StatusGone, metav1.StatusReasonExpired)
	errReset = errors.New("connection reset")
	onePage  = fakePage{items: []object.Item[obj]{item("a", "5"), item("b", "7")}, meta: ListMeta{ResourceVersion: "10"}}
)

// drive runs a reflector over a script for a while, and ends it.
func drive(t *testing.T, f *fake, o Options, last time.Duration) (*recorder[obj], Status) {
	t.Helper()
	var sink *recorder[obj]
	var status Status
	synctest.Test(t, func(t *testing.T) {
		r := startSource[obj](t, nil, f, o)
		time.Sleep(last)
		synctest.Wait()
		status, sink = r.Status(), r.sink
		r.end()
		if f.opened != f.closed {
			t.Errorf("%d streams opened, %d closed", f.opened, f.closed)
		}
	})
	return sink, status
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

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
		"4s watch rv=13 timeout="+halfway,
		"7.4s watch rv=14 timeout="+halfway,                      // after half of 0.8 s
		"9.2s list rv=14 match=NotOlderThan limit=500 continue=", // after half of 1.6 s
		"9.2s watch rv=40 timeout="+halfway,
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
	_, status = drive(t, f, Options{}, 8*time.Minute+time.Second)
	if status.Watches != 2 || status.Lists != 1 || !errors.Is(status.LastError, errSilent) {
		t.Errorf("after timeout and slack: %+v", status)
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
			r := New[obj](f, newRecorder[obj](), Options{FailFast: true})
			if err := r.Run(t.Context()); err != want {
				t.Errorf("%d: Run returned %v", code, err)
			}
			if st := r.Status(); st.Phase != Stopped || st.LastError != want || st.Attempts != 1 {
				t.Errorf("%d: status %+v", code, st)
			}
			f = &fake{lists: []fakePage{onePage}, watches: []fakeStream{{err: want}}}
			if err := New[obj](f, newRecorder[obj](), Options{FailFast: true}).Run(t.Context()); err != want {
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
		if err := New[obj](f, sink, Options{}).Run(t.Context()); err != broken {
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
		if err := New[obj](&fake{lists: []fakePage{onePage}}, sink, Options{}).Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// TestP12_StopInEveryPhase: end checks that it takes no time at all.
func TestP12_StopInEveryPhase(t *testing.T) {
	for why, f := range map[string]*fake{
		"listing":          {},
		"opening a watch":  {lists: []fakePage{onePage}},
		"reading":          {lists: []fakePage{onePage}, watches: []fakeStream{{}}},
		"waiting to list":  {lists: []fakePage{{err: errReset}}},
		"waiting to watch": {lists: []fakePage{onePage}, watches: []fakeStream{{err: errReset}}},
		"relisting":        {lists: []fakePage{onePage}, watches: []fakeStream{{end: errGone}}},
	} {
		t.Run(why, func(t *testing.T) {
			drive(t, f, Options{}, 0)
			drive(t, f, Options{}, time.Second)
		})
	}
}

// TestOnStatus: each change of the phase or the error is told, in order.
func TestOnStatus(t *testing.T) {
	var told []string
	o := Options{OnStatus: func(s Status) {
		told = append(told, fmt.Sprintf("%s %v %d", s.Phase, s.LastError, s.Attempts))
	}}
	f := &fake{
		lists: []fakePage{{err: errReset}, {err: errReset}, onePage},
		watches: []fakeStream{
			{events: []Event[obj]{added("c", "11"), added("d", "12")}, every: time.Second, end: io.EOF},
			{every: 10 * time.Second, end: errReset},
			{events: []Event[obj]{added("e", "13")}},
		},
	}
	drive(t, f, o, time.Minute)
	same(t, "told", told,
		"Listing <nil> 0",
		"Waiting connection reset 1",
		"Listing connection reset 1",
		"Waiting connection reset 2",
		"Listing connection reset 2",
		"Watching <nil> 0",
		"Waiting connection reset 1",
		"Watching connection reset 1",
		"Watching <nil> 0",
		"Stopped <nil> 0",
	)
}

// TestLog: trouble is one line when it begins, or changes, and one when it is
// over.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	h := slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	f := &fake{
		lists:   []fakePage{{err: errReset}, {err: errReset}, {err: errReset}, {err: refusal(403, metav1.StatusReasonForbidden)}, onePage},
		watches: []fakeStream{{}},
	}
	drive(t, f, Options{Logger: slog.New(h)}, time.Minute)
	same(t, "log", strings.Split(strings.TrimSpace(log.String()), "\n"),
		`level=WARN msg="attempt failed" err="connection reset" attempts=1`,
		`level=WARN msg="attempt failed" err=no attempts=4`,
		`level=INFO msg=recovered resourceVersion=10`,
	)
}

// TestQuarantinedEvents: what can't be used isn't applied, and is no reason to
// stop; a deletion needs no object.
func TestQuarantinedEvents(t *testing.T) {
	spoil := func(ev Event[obj]) Event[obj] {
		ev.Item.Object, ev.Quarantined = nil, errors.New("transform: no")
		return ev
	}
	var told []string
	o := Options{OnQuarantine: func(q Quarantine) { told = append(told, fmt.Sprint(q.Key, "@", q.ResourceVersion, " ", q.Err)) }}
	first := onePage
	first.meta.Quarantined = []Quarantine{{Key: object.Key{Name: "z"}, ResourceVersion: "9", Err: errors.New("bad")}}
	f := &fake{
		lists:   []fakePage{first},
		watches: []fakeStream{{events: []Event[obj]{spoil(added("c", "11")), spoil(deleted("a", "12"))}}},
	}
	sink, status := drive(t, f, o, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10 keep [z]", "DELETED a at 12")
	same(t, "told", told, "z@9 bad", "c@11 transform: no", "a@12 transform: no")
	if status.Quarantined != 3 || status.ResourceVersion != "12" || status.LastError != nil {
		t.Errorf("status %+v", status)
	}
}

// TestStatusIsACopy: what a caller does with it is nobody's business.
func TestStatusIsACopy(t *testing.T) {
	f := &fake{lists: []fakePage{onePage, onePage}, watches: []fakeStream{{end: errGone}, {}}}
	synctest.Test(t, func(t *testing.T) {
		r := startSource[obj](t, nil, f, Options{})
		time.Sleep(time.Minute)
		r.Status().Relists[RelistExpired] = 100
		if n := r.Status().Relists[RelistExpired]; n != 1 {
			t.Errorf("%d relists", n)
		}
		r.end()
	})
}

func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	o.Logger, o.Rand = nil, nil
	want := Options{
		PageSize: 500, WatchTimeoutMin: 5 * time.Minute, WatchTimeoutMax: 10 * time.Minute, Slack: 30 * time.Second, ListTimeout: 90 * time.Second,
		Backoff: Backoff{Initial: 800 * time.Millisecond, Factor: 2, Max: 30 * time.Second, Healthy: time.Minute},
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v", o)
	}
	o = Options{PageSize: -1, WatchTimeoutMin: time.Hour, WatchTimeoutMax: time.Minute, Backoff: Backoff{Initial: time.Hour, Factor: 0.1}}.withDefaults()
	if o.PageSize != 0 || o.WatchTimeoutMax != time.Hour || o.Backoff.Max != time.Hour || o.Backoff.Factor != 1 {
		t.Errorf("got %+v", o)
	}
}

func TestClassify(t *testing.T) {
	wrapped := func(err error) error {
		return &Error{Op: "list", Resource: schema.GroupVersionResource{Resource: "pods"}, Err: err}
	}
	tooLarge := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{
		RetryAfterSeconds: 1, Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}},
	}}}
	for _, c := range []struct {
		err  error
		want errorClass
		wait time.Duration
	}{
		{errReset, classPassing, 0},
		{io.ErrUnexpectedEOF, classPassing, 0},
		{context.DeadlineExceeded, classPassing, 0},
		{&DecodeError{Err: io.ErrUnexpectedEOF}, classUndecodable, 0},
		{errGone, classExpired, 0},
		{refusal(410, metav1.StatusReasonGone), classExpired, 0},
		{refusal(410, ""), classExpired, 0},
		{tooLarge, classTooLarge, time.Second},
		{refusal(401, metav1.StatusReasonUnauthorized), classRefused, 0},
		{refusal(403, ""), classRefused, 0},
		{refusal(404, ""), classRefused, 0},
		{refusal(405, ""), classRefused, 0},
		{refusal(0, metav1.StatusReasonForbidden), classRefused, 0},
		{refusal(400, ""), classInvalid, 0},
		{refusal(422, metav1.StatusReasonInvalid), classInvalid, 0},
		{refusal(406, ""), classInvalid, 0},
		{refusal(408, ""), classPassing, 0},
		{refusal(429, ""), classPassing, 0},
		{refusal(500, ""), classPassing, 0},
		{refusal(503, ""), classPassing, 0},
		{refusal(504, metav1.StatusReasonTimeout), classPassing, 0},
		{apierrors.NewTooManyRequests("slow down", 7), classPassing, 7 * time.Second},
	} {
		for _, err := range []error{c.err, wrapped(c.err), fmt.Errorf("more: %w", c.err)} {
			if class, wait := classify(err); class != c.want || wait != c.wait {
				t.Errorf("%v: class %d after %v, want %d after %v", err, class, wait, c.want, c.wait)
			}
		}
	}
}
