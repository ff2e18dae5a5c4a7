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

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// version is one version of one object.
type version struct{ UID, ResourceVersion string }

// settings say how one resource is followed.
type settings[T metav1.Object] struct {
	resource schema.GroupVersionResource
	source   reflector.SourceOptions[T]
	options  reflector.Options
	queue    informer.QueueKind
}

// subject is one informer under test, with a handler that checks every event.
type subject[T metav1.Object] struct {
	name         string
	resource     schema.GroupVersionResource
	informer     *informer.Informer[T]
	registration *informer.Registration[T]
	roundTripper http.RoundTripper
	cancel       context.CancelFunc
	ended        chan error

	mu      sync.Mutex // guards what follows
	known   map[string]version
	events  map[string]int // by type and source
	illegal []string
	highest string // version of the store
}

// follower is a subject of any T.
type follower interface {
	title() string
	of() schema.GroupVersionResource
	hasSynced() bool
	knows(map[string]version) bool
	checkVersion()
	check(t *testing.T, want map[string]metav1.Object)
	report() string
	stop(*testing.T)
}

func follow[T metav1.Object](t *testing.T, name string, config *rest.Config, s settings[T]) *subject[T] {
	t.Helper()
	sub := &subject[T]{name: name, resource: s.resource, ended: make(chan error, 1),
		known: make(map[string]version), events: make(map[string]int)}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		sub.roundTripper = rt
		return rt
	})
	source, err := reflector.NewHTTPSource(config, s.resource, s.source)
	if err != nil {
		t.Fatal(err)
	}
	s.options.Backoff = reflector.Backoff{Initial: 50 * time.Millisecond, Max: time.Second}
	// Silence must heal within the time that the soak lasts.
	s.options.WatchTimeoutMin, s.options.WatchTimeoutMax, s.options.Slack = 10*time.Second, 20*time.Second, 2*time.Second
	s.options.ListTimeout = 10 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	sub.cancel = cancel
	// What is started under a label has it too: that is how leaks are found (Q4).
	pprof.Do(ctx, pprof.Labels("subject", name), func(ctx context.Context) {
		sub.informer = informer.New(source, informer.Options[T]{
			Name: name, Queue: s.queue, Reflector: s.options, Logger: slog.New(slog.DiscardHandler),
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

// onEvent holds an event against what was told before (Q2).
func (s *subject[T]) onEvent(e informer.Event[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[fmt.Sprintf("%s %v", e.Type, e.Source)]++
	key := e.Key.String()
	before, exists := s.known[key]
	wrong := func(format string, args ...any) {
		if len(s.illegal) < 20 {
			s.illegal = append(s.illegal, fmt.Sprintf("%s %s@%s: ", e.Type, key, e.ResourceVersion)+fmt.Sprintf(format, args...))
		}
	}
	if e.OldResourceVersion != before.ResourceVersion {
		wrong("the version before is given as %q, but %q was told", e.OldResourceVersion, before.ResourceVersion)
	}
	switch {
	case e.Type == informer.Added && exists:
		wrong("was there already")
	case e.Type != informer.Added && (!exists || before.UID != string(e.UID)):
		wrong("uid %s; told before: %+v", e.UID, before)
	case e.Type == informer.Updated && !object.Newer(e.ResourceVersion, before.ResourceVersion):
		wrong("not newer than %s", before.ResourceVersion)
	}
	if e.Type == informer.Deleted {
		delete(s.known, key)
	} else {
		s.known[key] = version{string(e.UID), e.ResourceVersion}
	}
}

func (s *subject[T]) title() string { return s.name }

func (s *subject[T]) of() schema.GroupVersionResource { return s.resource }

func (s *subject[T]) hasSynced() bool { return s.registration.HasSynced() }

func (s *subject[T]) knows(state map[string]version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(s.known, state)
}

// checkVersion looks whether the store's version has gone back (Q3).
func (s *subject[T]) checkVersion() {
	now := s.informer.LastSyncResourceVersion()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.highest != "" && now != "" && object.Newer(s.highest, now) {
		s.illegal = append(s.illegal, fmt.Sprintf("the store went from version %s to %s", s.highest, now))
	}
	if now != "" {
		s.highest = now
	}
}

// check compares the cache with what the server has (Q1), and with the sum of all
// events (Q2).
func (s *subject[T]) check(t *testing.T, want map[string]metav1.Object) {
	t.Helper()
	cached := make(map[string]version)
	different := 0
	for item := range s.informer.Snapshot().Items() {
		key := item.Key.String()
		cached[key] = version{string(item.UID), item.ResourceVersion}
		if diff := difference(want[key], item.Object); diff != "" {
			if different++; different <= 3 {
				t.Errorf("%s: %s in the cache differs from the server's (-server +cache):\n%s", s.name, key, diff)
			}
		}
	}
	if len(cached) != len(want) || different > 0 {
		t.Errorf("%s: %d objects in the cache, %d on the server, %d differ", s.name, len(cached), len(want), different)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(cached, s.known) {
		t.Errorf("%s: the events don't add up to the cache", s.name)
	}
	for _, w := range s.illegal {
		t.Errorf("%s: illegal: %s", s.name, w)
	}
}

// report is a line about what the informer went through.
func (s *subject[T]) report() string {
	st := s.informer.Status().Status
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s: %d lists, %d watches, relists %v, %d quarantined, events %v, last error %v",
		s.name, st.Lists, st.Watches, st.Relists, st.Quarantined, s.events, st.LastError)
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
