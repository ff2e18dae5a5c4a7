package naive

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// poll is what one poll should lead to.
type poll struct {
	pages []page
	want  []string // events
	state []string // afterwards
	fails string   // part of the error, "" for success
}

func TestPoller(t *testing.T) {
	first := poll{
		pages: []page{{items: []string{"a u1 1", "b u2 2"}, rv: "5"}},
		want:  []string{"ADDED a u1@1 list initial", "ADDED b u2@2 list initial"},
		state: []string{"a@1", "b@2"},
	}
	for _, tc := range []struct {
		name, why string
		polls     []poll
		opts      Options
	}{
		{
			name: "add, update, delete", why: "the events are the difference of two lists, and name it as a relist",
			polls: []poll{first, {
				pages: []page{{items: []string{"b u2 7", "c u3 6"}, rv: "8"}},
				want:  []string{"DELETED a u1@1 relist", "UPDATED b u2@2>7 relist", "ADDED c u3@6 relist"},
				state: []string{"b@7", "c@6"},
			}},
		},
		{
			name: "nothing changed", why: "N3",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1", "b u2 2"}, rv: "99"}},
				state: []string{"a@1", "b@2"},
			}},
		},
		{
			name: "another UID", why: "N5 reaches the handler as two events",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u9 9", "b u2 2"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "ADDED a u9@9 relist"},
				state: []string{"a@9", "b@2"},
			}},
		},
		{
			name: "several pages", why: "a list is complete when the token is empty, not when a page is",
			polls: []poll{{
				pages: []page{
					{items: []string{"a u1 1"}, rv: "5", next: "t1"},
					{rv: "5", next: "t2"},
					{items: []string{"b u2 2"}, rv: "5"},
				},
				want:  []string{"ADDED a u1@1 list initial", "ADDED b u2@2 list initial"},
				state: []string{"a@1", "b@2"},
			}},
		},
		{
			name: "N9 a page fails", why: "half a list would delete the other half",
			polls: []poll{first, {
				pages: []page{
					{items: []string{"c u3 6"}, rv: "8", next: "t1"},
					{items: []string{"d u4 7"}, err: errors.New("connection reset")},
				},
				state: []string{"a@1", "b@2"},
				fails: "page 2, after 2 objects: connection reset",
			}, {
				pages: []page{{items: []string{"b u2 2", "c u3 6"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "ADDED c u3@6 relist"},
				state: []string{"b@2", "c@6"},
			}},
		},
		{
			name: "N9 the first poll fails", why: "the first complete one is the initial one",
			polls: []poll{{
				pages: []page{{items: []string{"a u1 1"}, err: errors.New("cut")}},
				fails: "page 1, after 1 objects: cut",
			}, first},
		},
		{
			name: "N9 pages of two moments", why: "an object that moved between them may be missing from both",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1"}, rv: "8", next: "t1"}, {rv: "9"}},
				state: []string{"a@1", "b@2"},
				fails: `from resourceVersion "8" to "9" between two pages`,
			}},
		},
		{
			name: "N9 the same token for ever", why: "nothing is unbounded",
			polls: []poll{first, {
				pages: []page{{rv: "8", next: "t1"}, {rv: "8", next: "t1"}},
				state: []string{"a@1", "b@2"},
				fails: "the same continue token twice",
			}},
		},
		{
			name: "N9 too many objects", why: "nothing is unbounded",
			opts: Options{MaxObjects: 2},
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1", "b u2 2", "c u3 3"}, rv: "8"}},
				state: []string{"a@1", "b@2"},
				fails: "more than 2 objects (Options.MaxObjects)",
			}},
		},
		{
			name: "N9 a server that hangs", why: "no one else watches the clock",
			opts: Options{PageTimeout: time.Second},
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1"}, hang: true}},
				state: []string{"a@1", "b@2"},
				fails: "no complete answer within 1s (Options.PageTimeout)",
			}},
		},
		{
			name: "N10 quarantined", why: "b exists, it is only unreadable; a is gone",
			polls: []poll{first, {
				pages: []page{{rv: "8", quarantined: []object.Key{{Name: "b"}, {Name: "new"}}}},
				want:  []string{"DELETED a u1@1 relist"},
				state: []string{"b@2"},
			}, {
				pages: []page{{items: []string{"b u2 3"}, rv: "9"}},
				want:  []string{"UPDATED b u2@2>3 relist"},
				state: []string{"b@3"},
			}},
		},
		{
			name: "N10 quarantined without a key", why: "it may be any of the missing ones",
			polls: []poll{first, {
				pages: []page{{items: []string{"c u3 3"}, rv: "8", quarantined: []object.Key{{}}}},
				want:  []string{"ADDED c u3@3 relist"},
				state: []string{"a@1", "b@2", "c@3"},
			}, {
				pages: []page{{items: []string{"c u3 3"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "DELETED b u2@2 relist"},
				state: []string{"c@3"},
			}},
		},
		{
			name: "no resourceVersion", why: "a poller is what is left for such servers",
			polls: []poll{{
				pages: []page{{items: []string{"a u1 -"}}},
				want:  []string{"ADDED a u1@ list initial"},
				state: []string{"a@"},
			}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, handler := &script{t: t}, &recorder{}
				turn := make(chan struct{})
				tc.opts.Interval = time.Minute
				tc.opts.OnPoll = func(Stats) { <-turn }
				p := NewPoller(source, handler, tc.opts)
				source.pages = tc.polls[0].pages
				run := start(t, p.Run)

				failures := 0
				for i, want := range tc.polls {
					time.Sleep(time.Second) // virtual: lets PageTimeout pass
					synctest.Wait()         // the poll is over, OnPoll holds the next one
					if d := cmp.Diff(want.want, handler.take()); d != "" {
						t.Errorf("poll %d: events: %s\n(-want +got)\n%s", i, tc.why, d)
					}
					if d := cmp.Diff(want.state, names(p.List())); d != "" {
						t.Errorf("poll %d: state: %s\n(-want +got)\n%s", i, tc.why, d)
					}
					stats := p.Stats()
					if want.fails != "" {
						failures++
						var pe *PollError
						if !errors.As(stats.LastError, &pe) || !strings.Contains(pe.Error(), want.fails) {
							t.Errorf("poll %d: the error is %v, want a *PollError with %q", i, stats.LastError, want.fails)
						}
					} else if stats.LastError != nil {
						t.Errorf("poll %d: %v", i, stats.LastError)
					}
					if stats.Polls != i+1 || stats.Failures != failures || stats.Objects != len(want.state) {
						t.Errorf("poll %d: stats %+v, want %d failures and %d objects", i, stats, failures, len(want.state))
					}
					if len(source.pages) > 0 {
						t.Errorf("poll %d: %d pages were not asked for", i, len(source.pages))
					}
					if i+1 < len(tc.polls) {
						source.pages = tc.polls[i+1].pages
						turn <- struct{}{}
						time.Sleep(time.Minute)
					}
				}
				close(turn)
				run.stop()
			})
		})
	}
}

// running is a Run in a goroutine of its own.
type running struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
}

func start(t *testing.T, run func(context.Context) error) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t, cancel, make(chan error, 1)}
	go func() { r.done <- run(ctx) }()
	return r
}

// stop ends the context and fails the test unless Run then returns nil
// without any time passing.
func (r *running) stop() {
	r.t.Helper()
	r.cancel()
	before := time.Now()
	if err := <-r.done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if took := time.Since(before); took != 0 {
		r.t.Errorf("Run took %v to return", took)
	}
}

func TestPollerPace(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		page      page
		handler   time.Duration
		want      time.Duration
	}{
		{"end to start", "the interval is a pause, so a slow handler doesn't make polls run together", page{items: []string{"a u1 1"}, rv: "1"}, 25 * time.Second, 35 * time.Second},
		{"a failure", "the pace is its own backoff", page{err: errors.New("no")}, 0, 10 * time.Second},
		{"Retry-After", "the server knows better", page{err: apierrors.NewTooManyRequests("slow down", 40)}, 0, 40 * time.Second},
		{"a short Retry-After", "it asks for at least", page{err: apierrors.NewTooManyRequests("slow down", 1)}, 0, 10 * time.Second},
		{"a mad Retry-After", "a broken proxy must not end the polling", page{err: apierrors.NewTooManyRequests("slow down", 1<<30)}, 0, maxRetryAfter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &script{t: t, pages: []page{tc.page, {rv: "2"}}}
				handler := informer.HandlerFunc[configMap](func(e informer.Event[configMap]) {
					if e.Type == informer.Added {
						time.Sleep(tc.handler)
					}
				})
				polled := make(chan time.Time, 2)
				p := NewPoller(source, handler, Options{Interval: 10 * time.Second, OnPoll: func(Stats) { polled <- time.Now() }})
				began := time.Now()
				run := start(t, p.Run)
				<-polled
				if got := (<-polled).Sub(began); got != tc.want {
					t.Errorf("the second poll came after %v, want %v: %s", got, tc.want, tc.why)
				}
				run.stop()
			})
		})
	}
}

func TestPollerAsks(t *testing.T) {
	for _, tc := range []struct {
		name     string
		pageSize int64
		want     int64
	}{
		{"default", 0, 500}, {"own", 7, 7}, {"no paging", -1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &script{t: t, pages: []page{{rv: "5", next: "t1"}, {rv: "5"}}}
				p := NewPoller(source, &recorder{}, Options{PageSize: tc.pageSize})
				run := start(t, p.Run)
				synctest.Wait()
				// No version on any page: the most recent state, never the server's cache.
				want := []reflector.ListOptions{{Limit: tc.want}, {Limit: tc.want, Continue: "t1"}}
				if d := cmp.Diff(want, source.asked); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				if got := p.Stats().Requests; got != 2 {
					t.Errorf("%d requests counted, want 2", got)
				}
				run.stop()
			})
		})
	}
}

// N11: what the handler reads is never behind its event. N13: not synced until
// it has returned from the last initial one.
func TestPollerStateLeadsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{t: t, pages: []page{{items: []string{"a u1 1", "b u2 2"}, rv: "5"}, {rv: "6"}}}
		var p *Poller[configMap]
		var calls int
		p = NewPoller(source, informer.HandlerFunc[configMap](func(e informer.Event[configMap]) {
			calls++
			_, exists, err := p.GetByKey(e.Key.String())
			if err != nil || exists != (e.Type == informer.Added) {
				t.Errorf("during %s of %s: exists is %v, %v", e.Type, e.Key, exists, err)
			}
			if e.Type == informer.Added && (p.Len() != 2 || p.HasSynced()) {
				t.Errorf("during %s of %s: %d objects, synced %v; want both, not synced", e.Type, e.Key, p.Len(), p.HasSynced())
			}
			if e.Type == informer.Deleted && (e.FinalStateKnown || e.Old == nil || e.Old.Name != e.Key.Name) {
				t.Errorf("deletion of %s: final state known: %v, old %v", e.Key, e.FinalStateKnown, e.Old)
			}
		}), Options{Interval: time.Minute})
		if p.HasSynced() {
			t.Error("synced before Run")
		}
		run := start(t, p.Run)
		<-p.Synced()
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls != 4 {
			t.Errorf("%d calls, want 4", calls)
		}
		run.stop()
	})
}

// An empty resource is synced too.
func TestPollerSyncsOnNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPoller(&script{t: t, pages: []page{{rv: "5"}}}, &recorder{}, Options{})
		run := start(t, p.Run)
		<-p.Synced()
		run.stop()
	})
}

// N14, and no second life.
func TestPollerStops(t *testing.T) {
	t.Run("between events", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := &script{t: t, pages: []page{{items: []string{"a u1 1", "b u2 2", "c u3 3"}, rv: "5"}}}
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			p := NewPoller(source, informer.HandlerFunc[configMap](func(informer.Event[configMap]) {
				if calls++; calls == 2 {
					cancel()
				}
			}), Options{})
			if err := p.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
			if calls != 2 || p.HasSynced() {
				t.Errorf("%d calls, synced %v; want 2, not synced", calls, p.HasSynced())
			}
			if err := p.Run(t.Context()); !errors.Is(err, ErrAlreadyRun) {
				t.Errorf("the second Run: %v, want ErrAlreadyRun", err)
			}
		})
	})
	t.Run("during a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPoller(&script{t: t, pages: []page{{hang: true}}}, &recorder{}, Options{})
			run := start(t, p.Run)
			synctest.Wait()
			run.stop()
			if s := p.Stats(); s.Failures != 0 || s.LastError != nil {
				t.Errorf("being stopped was counted as a failure: %+v", s)
			}
		})
	})
	t.Run("in a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPoller(&script{t: t, pages: []page{{rv: "1"}}}, &recorder{}, Options{})
			run := start(t, p.Run)
			<-p.Synced()
			synctest.Wait()
			run.stop()
		})
	})
}

// What didn't change stays the same object, and keys are read as written.
func TestPollerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := page{items: []string{"a-b/x u1 1", "a/x u2 2"}, rv: "5"}
		p := NewPoller(&script{t: t, pages: []page{list, list}}, &recorder{}, Options{Interval: time.Minute})
		run := start(t, p.Run)
		<-p.Synced()
		before := p.List()
		time.Sleep(time.Minute)
		synctest.Wait()
		if p.Stats().Polls != 2 {
			t.Fatalf("%d polls, want 2", p.Stats().Polls)
		}
		after := p.List()
		for i := range before {
			if before[i] != after[i] {
				t.Errorf("%s: another pointer for the same version", before[i].Name)
			}
		}
		if d := cmp.Diff([]string{"a-b/x@1", "a/x@2"}, names(after)); d != "" {
			t.Errorf("key order (-want +got)\n%s", d)
		}
		var keyErr *object.KeyError
		if _, _, err := p.GetByKey("a/b/c"); !errors.As(err, &keyErr) {
			t.Errorf("GetByKey of a malformed key: %v, want a *object.KeyError", err)
		}
		if obj, exists, err := p.GetByKey("a/none"); obj != nil || exists || err != nil {
			t.Errorf("GetByKey of a missing key: %v, %v, %v", obj, exists, err)
		}
		run.stop()
	})
}
