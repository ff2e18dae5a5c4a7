package reflector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	ctxs   []context.Context // of the streams
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
	verb := "watch"
	if o.SendInitialEvents {
		verb = "watch-list"
	}
	f.note("%s rv=%s timeout=%v", verb, o.ResourceVersion, o.Timeout)
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
	f.ctxs = append(f.ctxs, ctx)
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
	// errTooNew: the version asked for is one that the server hasn't reached.
	errTooNew = &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}}}}
	onePage = fakePage{items: []object.Item[obj]{item("a", "5"), item("b", "7")}, meta: ListMeta{ResourceVersion: "10"}}
)

// drive runs a reflector over a script for a while, and ends it. It lists in
// pages: see driveStreams.
func drive(t *testing.T, f *fake, o Options, last time.Duration) (*recorder[obj], Status) {
	t.Helper()
	o.WatchList = WatchListNever
	return driveStreams(t, f, o, last)
}

// driveStreams is drive with watch-lists, unless the options say otherwise.
func driveStreams(t *testing.T, f *fake, o Options, last time.Duration) (*recorder[obj], Status) {
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
		for i, ctx := range f.ctxs {
			if ctx.Err() == nil {
				t.Errorf("the context of stream %d goes on", i)
			}
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
