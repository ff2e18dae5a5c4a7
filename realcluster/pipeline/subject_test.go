package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/realcluster/gate"
	"informer.example/reflector"
)

// settings say how one resource is followed. list is the server's own list, which
// the cache must equal.
type settings[T metav1.Object] struct {
	resource schema.GroupVersionResource
	encoding reflector.Encoding
	queue    informer.QueueKind
	list     func(ctx context.Context, namespace string) ([]T, error)
}

// subject is one informer under test, with a handler that checks every event.
type subject[T metav1.Object] struct {
	settings[T]
	name, namespace string
	informer        *informer.Informer[T]
	registration    *informer.Registration[T]
	way             gate.Gate
	roundTripper    http.RoundTripper
	cancel          context.CancelFunc
	ended           chan error

	mu      sync.Mutex // guards what follows
	known   map[string]version
	told    map[string][]string // by key
	sources map[informer.Source]int
	illegal []string
}

// follow starts an informer for the namespace.
func follow[T metav1.Object](t *testing.T, name, namespace string, s settings[T]) *subject[T] {
	t.Helper()
	return followAs(t, cluster.Config(), name, namespace, s)
}

// followAs is follow, as a certain user.
func followAs[T metav1.Object](t *testing.T, config *rest.Config, name, namespace string, s settings[T]) *subject[T] {
	t.Helper()
	sub := &subject[T]{settings: s, name: name, namespace: namespace, ended: make(chan error, 1),
		known: make(map[string]version), told: make(map[string][]string), sources: make(map[informer.Source]int)}
	config = rest.CopyConfig(config)
	config.Dial = sub.way.Dial
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		sub.roundTripper = rt
		return rt
	})
	source, err := reflector.NewHTTPSource(config, s.resource, reflector.SourceOptions[T]{Namespace: namespace, Encoding: s.encoding})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sub.cancel = cancel
	// What is started under a label has it too: that is how leaks are found (P6).
	pprof.Do(ctx, pprof.Labels("subject", sub.label()), func(ctx context.Context) {
		sub.informer = informer.New(source, informer.Options[T]{
			Name:  name,
			Queue: s.queue,
			Reflector: reflector.Options{
				PageSize: 5, // fewer than there are objects
				Backoff:  reflector.Backoff{Initial: 20 * time.Millisecond, Max: 200 * time.Millisecond},
			},
			Logger: slog.New(slog.DiscardHandler),
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

func (s *subject[T]) label() string { return s.namespace + " " + s.name }

// onEvent holds an event against what was told before (P2).
func (s *subject[T]) onEvent(e informer.Event[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := e.Key.String()
	before, exists := s.known[key]
	wrong := func(format string, args ...any) {
		s.illegal = append(s.illegal, fmt.Sprintf("%s %s@%s: ", e.Type, key, e.ResourceVersion)+fmt.Sprintf(format, args...))
	}
	if obj := e.Object(); obj.GetNamespace() != e.Key.Namespace || obj.GetName() != e.Key.Name || obj.GetUID() != e.UID {
		wrong("the object is %s/%s, uid %s, not %s", obj.GetNamespace(), obj.GetName(), obj.GetUID(), e.UID)
	}
	if e.OldResourceVersion != before.ResourceVersion {
		wrong("the version before is given as %q, but %q was told", e.OldResourceVersion, before.ResourceVersion)
	}
	if e.Type != informer.Deleted && e.New.GetResourceVersion() != e.ResourceVersion {
		wrong("the object has version %s", e.New.GetResourceVersion())
	}
	if exists && e.Type != informer.Deleted && !object.Newer(e.ResourceVersion, before.ResourceVersion) {
		wrong("not newer than %s", before.ResourceVersion)
	}
	step := e.Type.String() + "@" + e.ResourceVersion
	switch e.Type {
	case informer.Added:
		if exists {
			wrong("was there already")
		}
	case informer.Updated, informer.Deleted:
		if !exists || before.UID != string(e.UID) {
			wrong("uid %s; told before: %+v", e.UID, before)
		}
	}
	if e.Type == informer.Updated && e.New.GetDeletionTimestamp() != nil {
		step = e.Type.String() + ", dying" // at a version that the writer isn't told
	}
	if e.Type == informer.Deleted {
		delete(s.known, key)
		if step = e.Type.String(); !e.FinalStateKnown {
			step += ", unseen"
		}
	} else {
		s.known[key] = version{string(e.UID), e.ResourceVersion}
	}
	s.told[key] = append(s.told[key], step)
	s.sources[e.Source]++
}

func (s *subject[T]) title() string { return s.name }

func (s *subject[T]) of() schema.GroupVersionResource { return s.resource }

func (s *subject[T]) gate() *gate.Gate { return &s.way }

func (s *subject[T]) status() reflector.Status { return s.informer.Status().Status }

func (s *subject[T]) hasSynced() bool { return s.registration.HasSynced() }

// knows reports whether the handler has been told exactly this state.
func (s *subject[T]) knows(state map[string]version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(s.known, state)
}

// take returns what was told since the last call, and how it was learned.
func (s *subject[T]) take() (map[string][]string, map[informer.Source]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told, sources := s.told, s.sources
	s.told, s.sources = make(map[string][]string), make(map[informer.Source]int)
	return told, sources
}

// checkCache compares the cache with the server's own list (P1), and with what the
// handler was told (P2). Nothing is normalised here; nil and empty lists count as
// different.
func (s *subject[T]) checkCache(t *testing.T) {
	t.Helper()
	want, err := s.list(t.Context(), s.namespace)
	if err != nil {
		t.Fatal(err)
	}
	snapshot := s.informer.Snapshot()
	got := snapshot.List()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the cache differs from the server's list (-server +cache):\n%s", s.name, diff)
	}
	// Equal methods may call things equal that are not written alike.
	wantBytes, wantErr := json.Marshal(want)
	gotBytes, gotErr := json.Marshal(got)
	if wantErr != nil || gotErr != nil || !bytes.Equal(wantBytes, gotBytes) {
		t.Errorf("%s: written as JSON, the cache and the server's list differ (%v, %v):\n%s\n%s", s.name, wantErr, gotErr, gotBytes, wantBytes)
	}
	cached := make(map[string]version)
	for item := range snapshot.Items() {
		cached[item.Key.String()] = version{string(item.UID), item.ResourceVersion}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := gocmp.Diff(cached, s.known); diff != "" {
		t.Errorf("%s: the events don't add up to the cache (-cache +events):\n%s", s.name, diff)
	}
	for _, w := range s.illegal {
		t.Errorf("%s: illegal event: %s", s.name, w)
	}
}

// stop ends the informer and looks for what it left behind (P6).
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
	// A connection is idle only once its last stream has ended, a moment after Run.
	look := func() string {
		utilnet.CloseIdleConnectionsFor(s.roundTripper)
		return goroutinesOf(s.label())
	}
	left := look()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(patience); left != "" && time.Now().Before(deadline); left = look() {
		<-poll.C
	}
	if left != "" {
		t.Errorf("%s: goroutines are left:\n%s", s.name, left)
	}
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
