package soak

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"informer.example/compare/invariant"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/realcluster/gate"
	"informer.example/reflector"
)

// settings say how one resource is followed.
type settings[T metav1.Object] struct {
	resource schema.GroupVersionResource
	source   reflector.SourceOptions[T]
	how      reflector.WatchListMode
	queue    informer.QueueKind
}

// subject is one informer under test. Its checker sees its requests and their
// answers, what its handler is told, and its store whenever it is looked at.
type subject[T metav1.Object] struct {
	name         string
	settings     settings[T]
	history      *history
	checker      *invariant.Checker
	informer     *informer.Informer[T]
	registration *informer.Registration[T]
	way          gate.Gate
	roundTripper http.RoundTripper
	cancel       context.CancelFunc
	ended        chan error
	log          *tail
	violations   int // at the last look; owned by who looks

	mu     sync.Mutex // guards what follows
	known  invariant.State
	events map[string]int // by type and source
}

// follower is a subject of any T.
type follower interface {
	title() string
	of() schema.GroupVersionResource
	gate() *gate.Gate
	hasSynced() bool
	knows(invariant.State) bool
	look(context.Context) error
	check(t *testing.T, want map[object.Key]metav1.Object)
	report() string
	stop(*testing.T)
}

func follow[T metav1.Object](t *testing.T, name string, config *rest.Config, h *history, s settings[T]) *subject[T] {
	t.Helper()
	size := time.Duration(*podCount) * time.Millisecond
	opts := reflector.Options{
		WatchList: s.how,
		Backoff:   reflector.Backoff{Initial: 50 * time.Millisecond, Max: time.Second},
		// Silence must heal within the time that the soak lasts, but a watch-list, and
		// a list at version 0, which has no pages, must have the time to come.
		WatchTimeoutMin: 10*time.Second + size, WatchTimeoutMax: 2 * (10*time.Second + size), Slack: 2 * time.Second,
		ListTimeout: 10*time.Second + 2*size, OpenTimeout: 3 * time.Second,
	}
	sub := &subject[T]{name: name, settings: s, history: h, ended: make(chan error, 1),
		known: make(invariant.State), events: make(map[string]int), log: new(tail),
		checker: invariant.New(invariant.Options{
			History: h.of[s.resource],
			// With waits of half a second on the average.
			Burst: 60,
			// Timers are late on a busy machine.
			Slack: opts.Slack + 10*time.Second, ListTimeout: opts.ListTimeout + 10*time.Second,
			MaxPage: 1 << 30, // a list at version 0 has everything on one page
		})}
	config = rest.CopyConfig(config)
	config.Dial = sub.way.Dial
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		sub.roundTripper = rt
		return sub.checker.Transport(rt)
	})
	source, err := reflector.NewHTTPSource(config, s.resource, s.source)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sub.cancel = cancel
	// What is started under a label has it too: that is how leaks are found (Q4).
	pprof.Do(ctx, pprof.Labels("subject", name), func(ctx context.Context) {
		sub.informer = informer.New(source, informer.Options[T]{
			Name: name, Queue: s.queue, Reflector: opts, Logger: slog.New(slog.NewTextHandler(sub.log, nil)),
		})
		sub.registration, err = sub.informer.AddEventHandler(informer.HandlerFunc[T](sub.onEvent))
		if err != nil {
			t.Fatal(err)
		}
		go func() { sub.ended <- sub.informer.Run(ctx) }()
	})
	t.Cleanup(func() { sub.stop(t) })
	return sub
}

// onEvent shows an event to the checker. It doesn't look at the store, as
// invariant.Attach does: with all those pods that would be the most work of all.
func (s *subject[T]) onEvent(e informer.Event[T]) {
	s.checker.Event(invariant.Event{Type: e.Type.String(), Key: e.Key, UID: e.UID, RV: e.ResourceVersion})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[fmt.Sprintf("%s %v", e.Type, e.Source)]++
	if e.Type == informer.Deleted {
		delete(s.known, e.Key)
	} else {
		s.known[e.Key] = invariant.Version{UID: e.UID, RV: e.ResourceVersion}
	}
}

func (s *subject[T]) title() string { return s.name }

func (s *subject[T]) of() schema.GroupVersionResource { return s.settings.resource }

func (s *subject[T]) gate() *gate.Gate { return &s.way }

func (s *subject[T]) hasSynced() bool { return s.registration.HasSynced() }

func (s *subject[T]) knows(state invariant.State) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(s.known, state)
}

// look has the checker hold the store against what the server had at the store's
// version.
func (s *subject[T]) look(ctx context.Context) (err error) {
	s.checker.Store(func() (string, invariant.State) {
		rv, state := invariant.StateOf(s.informer)
		if err = s.history.await(ctx, rv); err != nil {
			return "", nil
		}
		return rv, state
	})
	s.checker.Synced(s.informer.HasSynced())
	s.checker.Idle()
	if n := len(s.checker.Violations()); n > s.violations {
		s.violations = n
		fmt.Fprintf(s.log, "%s: %d violations so far\n", time.Now().Format(time.RFC3339Nano), n)
	}
	return err
}

// check compares the cache with what the server has (Q1), object for object, and
// asks the checker what it has seen (Q2).
func (s *subject[T]) check(t *testing.T, want map[object.Key]metav1.Object) {
	t.Helper()
	different := 0
	snapshot := s.informer.Snapshot()
	for item := range snapshot.Items() {
		if diff := difference(want[item.Key], item.Object); diff != "" {
			if different++; different <= 3 {
				t.Errorf("%s: %s in the cache differs from the server's (-server +cache):\n%s", s.name, item.Key, diff)
			}
		}
	}
	if snapshot.Len() != len(want) || different > 0 {
		t.Errorf("%s: %d objects in the cache, %d on the server, %d differ", s.name, snapshot.Len(), len(want), different)
	}
	_, cached := invariant.StateOf(s.informer)
	s.checker.Converged(cached, versions(want))
	if err := s.checker.Err(); err != nil {
		t.Errorf("%s: %v\nits log ends with\n%s", s.name, err, s.log)
	}
	st := s.informer.Status()
	if st.Quarantined > 0 {
		t.Errorf("%s: %d objects couldn't be read", s.name, st.Quarantined)
	}
	if streams := s.settings.how == reflector.WatchListAuto; streams != (st.WatchLists > 0) {
		t.Errorf("%s: %d of %d lists were watch-lists", s.name, st.WatchLists, st.Lists)
	}
}

// report is a line about what the informer went through.
func (s *subject[T]) report() string {
	st := s.informer.Status().Status
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s: %d lists, %d of them watch-lists, %d watches, relists %v, events %v, last error %v",
		s.name, st.Lists, st.WatchLists, st.Watches, st.Relists, s.events, st.LastError)
}

// stop ends the informer and looks for what it left behind (Q4).
func (s *subject[T]) stop(t *testing.T) {
	s.cancel()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("%s: Run: %v", s.name, err)
		}
	case <-time.After(patience):
		t.Errorf("%s: Run has not returned", s.name)
		return
	}
	s.ended <- nil // stop may be called again
	left := ""
	eventually(t, s.name+": its goroutines end", func() bool {
		// A connection is idle only once its last stream has ended, a moment after Run.
		utilnet.CloseIdleConnectionsFor(s.roundTripper)
		left = goroutinesOf(s.name)
		return left == ""
	}, func() string { return left })
}

// goroutinesOf returns the stacks of the goroutines with a subject's label.
func goroutinesOf(label string) string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	var left []string
	want := fmt.Sprintf("{%q:%q}", "subject", label)
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, want) {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// tail keeps the last lines that are written to it.
type tail struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *tail) Write(line []byte) (int, error) {
	const most = 200
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	if len(l.lines) > most {
		l.lines = l.lines[1:]
	}
	return len(line), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}
