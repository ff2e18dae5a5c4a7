package reflector

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
	inject "informer.example/apisim/fault"
)

// TestR9_StopsAtOnce: in every state in which a reflector can wait, it ends when
// its context does: in no time, without a request more, and leaving no goroutine,
// which the bubble would tell.
func TestR9_StopsAtOnce(t *testing.T) {
	const (
		list      = "limit=500&resourceVersion="
		watchList = "sendInitialEvents=true"
		watch     = "resourceVersion=103&timeoutSeconds="
	)
	pages := Options{WatchList: WatchListNever}
	with := func(o Options, change func(*Options)) Options { change(&o); return o }
	hang := inject.Hang()
	// met gives the nth and later requests of a kind the fault.
	met := func(ops inject.Op, from int, f inject.Fault) func(*inject.Script) {
		return func(s *inject.Script) { s.On(ops).From(from).Do(f) }
	}
	refused := func(code int, retryAfter time.Duration) inject.Fault {
		return inject.Refuse(inject.StatusFor(code), retryAfter)
	}
	half := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		_, _ = w.Write([]byte(`{"kind":"PodList","items":[{"metadata":`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	halfError := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.WriteHeader(http.StatusForbidden)
		half(w, r, next)
	}
	polling := with(pages, func(o *Options) { o.PollInterval = time.Hour })
	tests := []struct {
		state  string
		opts   Options
		faults func(*inject.Script)
		after  time.Duration
		phase  Phase
		last   string // a part of the last request: the state was reached
	}{
		{"a list that isn't answered", pages, met(inject.List, 1, hang), time.Second, Listing, list + "0"},
		{"a list that is silent from its headers on", pages, met(inject.List, 1, inject.Silence()), time.Second, Listing, list + "0"},
		{"inside an object of a list", pages, met(inject.List, 1, half), time.Second, Listing, list + "0"},
		{"inside the text of a refusal", pages, met(inject.List, 1, halfError), time.Second, Listing, list + "0"},
		{"the second page", with(pages, func(o *Options) { o.PageSize = 2 }), func(s *inject.Script) {
			s.On(inject.List).Times(1).Do(refused(410, 0)) // at "0" there would be no pages
			s.On(inject.List).Page(2).Do(hang)
		}, time.Second, Listing, "continue="},
		{"a watch-list that isn't accepted", Options{}, met(inject.WatchList, 1, hang), time.Second, Listing, watchList},
		{"a watch-list that brings nothing", Options{}, met(inject.WatchList, 1, inject.Silence()), time.Second, Listing, watchList},
		{"a watch-list whose marker is missing", Options{}, met(inject.WatchList, 1, inject.WithholdMarker()), time.Second, Listing, watchList},
		{"a watch that isn't accepted", pages, met(inject.Watch, 1, hang), time.Second, Watching, watch},
		{"a watch that is silent", pages, met(inject.Watch, 1, inject.Silence()), time.Second, Watching, watch},
		{"a quiet watch", pages, func(*inject.Script) {}, 3 * time.Minute, Watching, watch},
		{"the watch that a watch-list has become", Options{}, func(*inject.Script) {}, 3 * time.Minute, Watching, watchList},
		{"the backoff of a list", pages, met(inject.List, 1, refused(500, 0)), time.Minute, Waiting, list + "0"},
		{"the backoff of a watch-list", Options{}, met(inject.WatchList, 1, refused(500, 0)), time.Minute, Waiting, watchList},
		{"the backoff of a watch", pages, met(inject.Watch, 1, refused(500, 0)), time.Minute, Waiting, watch},
		{"Retry-After of a list", pages, met(inject.List, 1, refused(429, time.Minute)), time.Second, Waiting, list + "0"},
		{"Retry-After of a watch", pages, met(inject.Watch, 1, refused(429, time.Minute)), time.Second, Waiting, watch},
		{"between two polls", polling, met(inject.Watch, 1, refused(405, 0)), time.Minute, Polling, watch},
		{"a watch that is tried after a poll", polling, func(s *inject.Script) {
			s.On(inject.Watch).Times(1).Do(refused(405, 0))
			s.On(inject.Watch).Do(hang)
		}, time.Hour + 3*time.Minute + 10*time.Second, Watching, watch},
		{"a probe", with(pages, func(o *Options) { o.WatchTimeoutMin, o.WatchTimeoutMax = 5*time.Minute, 5*time.Minute }), func(s *inject.Script) {
			s.On(inject.Watch).Do(inject.DropBookmarks())
			s.On(inject.List).From(2).Do(hang)
		}, 5*time.Minute + 10*time.Second, Watching, "limit=1&"},
		{"a verification", with(pages, func(o *Options) { o.VerifyEvery = time.Minute }),
			met(inject.List, 2, hang), time.Minute + 10*time.Second, Listing, "resourceVersionMatch=Exact"},
		{"a list after lost history", pages, func(s *inject.Script) {
			s.On(inject.Watch).Do(refused(410, 0))
			s.On(inject.List).From(2).Do(hang)
		}, 10 * time.Second, Listing, "resourceVersionMatch=NotOlderThan"},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apisim.New()
				for _, name := range []string{"a", "b", "c"} {
					must(s.Create(podsGVR, pod(name)))
				}
				script := inject.New()
				tt.faults(script)
				var mu sync.Mutex
				var asked []string
				s.SetFault(func(r *http.Request) apisim.Fault {
					mu.Lock()
					asked = append(asked, r.URL.Query().Encode())
					mu.Unlock()
					return script.Choose(r)
				})
				r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, tt.opts)
				time.Sleep(tt.after)
				synctest.Wait()
				requests := len(asked)
				if phase := r.Status().Phase; phase != tt.phase || !strings.Contains(asked[requests-1], tt.last) {
					t.Errorf("%v, last asked for %q: this isn't the state", phase, asked[requests-1])
				}
				r.end()
				time.Sleep(time.Hour)
				if phase := r.Status().Phase; phase != Stopped || len(asked) != requests {
					t.Errorf("after the end: %v, and asked for %q", phase, asked[requests:])
				}
			})
		})
	}
}
