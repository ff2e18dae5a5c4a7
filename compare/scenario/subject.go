package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/apisim"
	"informer.example/compare/invariant"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/reflector"
)

var (
	pods    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	widgets = apisim.Resource{
		GVR:  schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind: "Widget", Namespaced: true,
	}
)

func (r *runner) resource() schema.GroupVersionResource {
	if r.scenario.server.widgets {
		return widgets.GVR
	}
	return pods
}

// subject is an informer of any type, with the handlers and indexes of a script.
type subject interface {
	run(ctx context.Context) error
	synced() bool
	status() informer.Status
	look(c *invariant.Checker)
	rest(c *invariant.Checker)
	state() invariant.State

	join(joining) error
	handler(name string) scripted // nil: there is none
	resumeAll()
	index(name string) error
	unindex(name string) error
}

// typed is the one subject there is. The runner's goroutine owns it.
type typed[T metav1.Object] struct {
	i         *informer.Informer[T]
	checker   *invariant.Checker
	log       func(string, ...any)
	wrongs    Wrongs[T]
	reference *listener[T] // it is told everything
	listeners []*listener[T]
	indexes   map[string]bool
	frozen    []frozen[T] // the last few snapshots
}

func (s *typed[T]) run(ctx context.Context) error { return s.i.Run(ctx) }
func (s *typed[T]) synced() bool                  { return s.i.HasSynced() }
func (s *typed[T]) status() informer.Status       { return s.i.Status() }
func (s *typed[T]) state() invariant.State {
	_, state := invariant.StateOf(s.i)
	return state
}

// look is called when nothing moves.
func (s *typed[T]) look(c *invariant.Checker) {
	invariant.Look(c, s.i)
	recount(c, s.i, s.indexes)
	now := s.i.Snapshot()
	for _, f := range s.frozen {
		f.thaw(c, now)
	}
	if n := len(s.frozen); n == 0 || s.frozen[n-1].snapshot != now {
		s.frozen = append(s.frozen[max(n-2, 0):], frozen[T]{now, stateIn(now)})
	}
}

// rest is called when nothing is left to do.
func (s *typed[T]) rest(c *invariant.Checker) {
	state := s.state()
	for _, l := range append(s.listeners, s.reference) {
		if l.hasGone() {
			continue
		}
		st := l.reg.Status()
		if !st.Synced || st.Lag > 0 {
			c.Broken("H2", "at rest handler %s: synced %t, %d events wait", l.name, st.Synced, st.Lag)
			continue
		}
		l.follows.Rest(state)
		if st.Delivery != informer.Latest && st.FellBehind == 0 {
			l.follows.MissedNothing(s.reference.follows)
		}
	}
}

func (s *typed[T]) join(j joining) error {
	if s.handler(j.name) != nil {
		return fmt.Errorf("there is a handler %s", j.name)
	}
	l, err := s.listen(j)
	if err == nil {
		s.listeners = append(s.listeners, l)
	}
	return err
}

func (s *typed[T]) listen(j joining) (*listener[T], error) {
	l := &listener[T]{
		informer: s.i, follows: s.checker.Handler(j.name), log: s.log, name: j.name,
		registered: make(chan struct{}), quits: j.quits,
	}
	var handler informer.EventHandler[T] = l
	if s.wrongs.Handler != nil {
		handler = s.wrongs.Handler(l)
	}
	reg, err := s.i.AddEventHandler(handler, j.options()...)
	if err != nil {
		return nil, err
	}
	l.reg = reg
	close(l.registered)
	return l, nil
}

func (s *typed[T]) handler(name string) scripted {
	for _, l := range s.listeners {
		if l.name == name && !l.hasGone() {
			return l
		}
	}
	return nil
}

func (s *typed[T]) resumeAll() {
	for _, l := range s.listeners {
		l.resume()
	}
}

func (s *typed[T]) index(name string) error {
	if s.indexes[name] {
		return fmt.Errorf("there is an index %s", name)
	}
	f := indexFunc[T](name)
	if s.wrongs.Index != nil {
		f = s.wrongs.Index(f)
	}
	s.indexes[name] = true
	err := s.i.AddIndexers(indexer.Indexers[T]{name: f})
	var failed indexer.IndexErrors
	if errors.As(err, &failed) { // the script's functions do; the index is there
		return nil
	}
	return err
}

func (s *typed[T]) unindex(name string) error {
	if !s.indexes[name] {
		return fmt.Errorf("there is no index %s", name)
	}
	delete(s.indexes, name)
	return s.i.RemoveIndexer(name)
}

func (r *runner) newSubject(cfg *rest.Config) (subject, error) {
	if r.scenario.server.widgets {
		return subjectOf(r, cfg, Wrongs[*unstructured.Unstructured]{})
	}
	return subjectOf(r, cfg, r.setup.Wrongs)
}

func subjectOf[T metav1.Object](r *runner, cfg *rest.Config, wrongs Wrongs[T]) (subject, error) {
	o := r.scenario.client
	encoding, queue := r.setup.Encoding, r.setup.Queue
	if o.encoding != "" {
		encoding = encodings[o.encoding]
	}
	if r.scenario.server.widgets {
		encoding = reflector.EncodingJSON // custom resources have no other
	}
	if o.queue != nil {
		queue = *o.queue
	}
	var source reflector.Source[T]
	source, err := reflector.NewHTTPSource(cfg, r.resource(), reflector.SourceOptions[T]{
		LabelSelector: o.selector, Shard: o.shard, Encoding: encoding,
	})
	if err != nil {
		return nil, err
	}
	if wrongs.Source != nil {
		source = wrongs.Source(source)
	}
	opts := reflector.Options{
		PageSize: o.page, WatchTimeoutMin: o.watchTimeout, WatchTimeoutMax: o.watchTimeout,
		VerifyEvery: o.verify, IdleTimeout: o.idle, PollInterval: o.polling,
		Rand: rand.New(rand.NewPCG(1, 2)).Float64, // one run is like the other
	}
	if o.lists {
		opts.WatchList = reflector.WatchListNever
	}
	i := informer.New(source, informer.Options[T]{
		Queue: queue, Reflector: opts, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if _, err := invariant.Attach(r.checker, i); err != nil {
		return nil, err
	}
	_, err = i.AddEventHandler(informer.HandlerFunc[T](func(e informer.Event[T]) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, count{e.Type, e.Initial})
	}), informer.WithHandlerResync(0))
	if err != nil {
		return nil, err
	}
	s := &typed[T]{i: i, checker: r.checker, log: r.log, wrongs: wrongs, indexes: map[string]bool{}}
	s.reference, err = s.listen(joining{name: "reference", lag: 1 << 20})
	return s, err
}
