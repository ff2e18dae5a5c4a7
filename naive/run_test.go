package naive

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

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
