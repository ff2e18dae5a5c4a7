package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/indexer"
	"informer.example/object"
	"informer.example/reflector"
)

// Informer keeps a store equal to what a source lists and watches, and tells
// handlers what changes in it. All methods may be called at any time, by any
// number of goroutines, before, during and after Run.
//
// One that a factory gave out is a lease on an informer that others may share:
// it has one store and one set of indexes, and each lease its own handlers. Give
// it back with [Informer.Release] when it isn't needed any more; the factory's
// Shutdown ends it in any case.
type Informer[T metav1.Object] struct {
	*core[T]
	lease *lease // nil: none, the informer lives until its Run ends
}

// core is what all leases on an informer share.
type core[T metav1.Object] struct {
	ofFactory bool // which runs it, and knows it by its namespaces; set once

	opts    Options[T]
	store   *indexer.Indexer[T]
	hub     *hub[T]
	scope   scope[T]
	waiters versionWaiters

	// turn makes a commit to the store and its entry in the log one step, where
	// there are several apply loops. Only they take it, and a namespace that
	// leaves. Index functions run while it is held, as they hold up the one
	// loop where there is one; no method of the informer waits for it.
	turn sync.Mutex

	hasRun   atomic.Bool
	synced   chan struct{} // closed when all that there was has synced for the first time
	stopping chan struct{} // closed when Run begins to end
	stopped  chan struct{} // closed when Run is about to return
	failure  error         // why Run ended, if not by its context; set before stopped is closed

	end         context.CancelCauseFunc // ends Run; set by Run
	stale       atomic.Uint64
	drift       atomic.Uint64
	filtered    atomic.Uint64
	indexErrors atomic.Uint64
}

// New makes an informer that reads from source. It does nothing until Run.
func New[T metav1.Object](source reflector.Source[T], opts Options[T]) *Informer[T] {
	i := newInformer(opts)
	i.scope.parts = []*part[T]{i.newPart("", true, source)}
	return i
}

func newInformer[T metav1.Object](opts Options[T]) *Informer[T] {
	if opts.Name == "" {
		opts.Name = reflect.TypeFor[T]().String()
	}
	if opts.Resource.Empty() {
		opts.Resource = schema.GroupResource{Resource: opts.Name}
		if builtin, err := resourceOf[T](); err == nil {
			opts.Resource = builtin.GroupResource()
		}
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.SlowCall == 0 {
		opts.SlowCall = DefaultSlowCall
	}
	if opts.MaxLag <= 0 {
		opts.MaxLag = DefaultMaxLag
	}
	if opts.Reflector.Logger == nil {
		opts.Reflector.Logger = opts.Logger
	}
	if opts.Trace == nil {
		opts.Trace = &Trace{}
	} else if opts.Reflector.Trace == nil {
		opts.Reflector.Trace = &opts.Trace.Wire
	}
	i := &Informer[T]{core: &core[T]{
		opts:     opts,
		store:    indexer.New(opts.Indexers, indexer.WithKeyFunc(opts.KeyFunc)),
		synced:   make(chan struct{}),
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
	}}
	i.hub = newHub(i.store, opts.Name, opts.Logger, opts.Trace)
	switch opts.Mutations {
	case ReportMutations:
		i.hub.detector = newDetector[T](opts.Name, opts.MutationSample, opts.Logger, nil)
	case FailOnMutations:
		i.hub.detector = newDetector[T](opts.Name, opts.MutationSample, opts.Logger, i.fail)
	}
	i.hub.covers = i.scope.covers
	return i
}

// Run lists, watches and tells handlers until ctx ends, and returns when every
// goroutine of the informer has ended. It waits for a handler's running call,
// but makes no further one: events that are pending then are not told.
//
// Run returns nil when ctx ended it, [ErrAlreadyRun] on a second call (which
// also is [ErrStopped] if the first has returned), [ErrFactoryRuns] for one of a
// factory, [ErrCutShort] when one of the user's functions did, a
// [*MutationError] under [FailOnMutations], and the error that made going on
// pointless if the reflector is set to fail fast. What ends one of several
// namespaces doesn't end Run: it stands in Status.
func (i *Informer[T]) Run(ctx context.Context) error {
	if i.ofFactory {
		return ErrFactoryRuns
	}
	return i.run(ctx)
}

func (i *Informer[T]) run(parent context.Context) (err error) {
	if i.hasRun.Swap(true) {
		select {
		case <-i.stopped:
			return fmt.Errorf("%w (%w)", ErrAlreadyRun, ErrStopped)
		default:
			return ErrAlreadyRun
		}
	}
	ctx, end := context.WithCancelCause(parent)
	cancel := func() { end(nil) }
	i.end = end
	i.hub.start()
	var loops sync.WaitGroup
	if d := i.hub.detector; d != nil {
		loops.Go(func() { d.run(ctx) })
	}
	loops.Go(func() { <-ctx.Done(); close(i.stopping) })
	// Deferred, so that a user's function that ends the goroutine leaves
	// nobody waiting.
	defer func() {
		p := recover()
		cancel()
		if p != nil {
			// A function of the user panicked. The process is to die of it now, and
			// not when the handlers have returned. The frames of the panic are
			// still on the stack, so the trace shows them.
			i.hub.halt()
			i.failure = ErrCutShort
			close(i.stopped)
			panic(p)
		}
		loops.Wait()
		i.hub.stop()
		var mutation *MutationError
		switch {
		case errors.As(context.Cause(ctx), &mutation):
			err = mutation
		case err == nil && parent.Err() == nil:
			err = ErrCutShort
		}
		i.failure = err
		close(i.stopped)
	}()
	return i.scope.follow(ctx, i)
}

// fail ends Run with an error.
func (i *Informer[T]) fail(err error) { i.end(err) }

// AddEventHandler registers a handler. It is told every object in the store
// as Added, from a snapshot and without holding up anybody, and from then on
// what changes. Before Run that is nothing yet; after Run it is [ErrStopped],
// and after Release [ErrReleased].
//
// Each handler's calls come one after the other, in an order that is the
// server's for each key (H4).
func (i *Informer[T]) AddEventHandler(h EventHandler[T], opts ...HandlerOption) (*Registration[T], error) {
	o := handlerOptions{resync: i.opts.Resync, maxLag: i.opts.MaxLag, slowCall: i.opts.SlowCall}
	for _, set := range opts {
		set(&o)
	}
	if o.name == "" {
		o.name = handlerName(h)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r := newRegistration(i.hub, h, o)
	r.lease = i.lease
	if err := i.hub.add(r); err != nil {
		return nil, err
	}
	return r, nil
}

// RemoveEventHandler takes a handler off. No call starts after it returns; one
// that is running goes on, and r.Done tells when it has returned. So a handler
// may remove itself.
func (i *Informer[T]) RemoveEventHandler(r *Registration[T]) error {
	if r == nil || r.lease != i.lease {
		return ErrNotRegistered
	}
	return i.hub.remove(r, ErrHandlerRemoved)
}

// ShutDownEventHandler takes a handler off and waits until its running call
// has returned. A handler that calls it on itself waits for ever: that is what
// RemoveEventHandler is for.
func (i *Informer[T]) ShutDownEventHandler(r *Registration[T]) error {
	if err := i.RemoveEventHandler(r); err != nil {
		return err
	}
	<-r.Done()
	return nil
}

// AddIndexers adds indexes, at any time. They are complete when it returns.
func (i *Informer[T]) AddIndexers(indexers indexer.Indexers[T]) error {
	return i.store.AddIndexers(indexers)
}

// AddFieldIndexes adds an index for each field path, under the name of the path.
// Lists with field selectors use it by themselves. It may be called at any time,
// and again for the same path. A path that T doesn't have is a
// [*indexer.FieldError].
func (i *Informer[T]) AddFieldIndexes(paths ...string) error {
	return i.store.AddFieldIndexes(paths...)
}

// AddLabelIndexes is AddFieldIndexes for labels and label selectors.
func (i *Informer[T]) AddLabelIndexes(labels ...string) error {
	return i.store.AddLabelIndexes(labels...)
}

// RemoveIndexer removes an index, from all who share the informer.
func (i *Informer[T]) RemoveIndexer(name string) error { return i.store.RemoveIndexer(name) }

// GetIndexer returns the store, for reading. Each call of it sees the newest
// state; several that must agree with each other belong on one Snapshot.
func (i *Informer[T]) GetIndexer() indexer.Reader[T] { return i.store }

// Snapshot returns the state of the store as it is now. It never changes.
func (i *Informer[T]) Snapshot() *indexer.Snapshot[T] { return i.store.Snapshot() }

// HasSynced reports whether the first list has been applied to the store; with
// several namespaces, those of all that are in the scope at this moment. So it
// turns false again when one is added, and a removed one doesn't count.
// Handlers may still be at it: ask their registrations.
func (i *Informer[T]) HasSynced() bool {
	i.scope.mu.Lock()
	defer i.scope.mu.Unlock()
	return i.scope.all
}

// Synced is closed when HasSynced turns true for the first time.
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// WaitForSync returns nil once the informer has synced (see HasSynced). When
// ctx ends first, or Run does, it returns a [*NotSyncedError] that says what
// the informer was doing instead, and which namespaces are missing. It doesn't
// wait for a namespace whose reflector has ended with an error.
func (i *Informer[T]) WaitForSync(ctx context.Context) error {
	if err := i.waitForSync(ctx); err != nil {
		return &NotSyncedError{Status: i.Status(), Err: err}
	}
	return nil
}

// Status describes the informer at this moment.
func (i *Informer[T]) Status() Status {
	st := Status{
		Name:         i.opts.Name,
		Objects:      i.store.Len(),
		StoreVersion: i.store.ResourceVersion(),
		IndexErrors:  i.indexErrors.Load(),
		Stale:        i.stale.Load(),
		Drift:        i.drift.Load(),
		Filtered:     i.filtered.Load(),
		Handlers:     i.hub.status(),
	}
	i.scope.status(&st)
	return st
}

// LastSyncResourceVersion is the resourceVersion up to which the store has
// followed the server.
func (i *Informer[T]) LastSyncResourceVersion() string { return i.store.ResourceVersion() }

// Events is the pull form of a handler: it yields what a handler would be
// told, until the loop breaks, ctx ends, the informer stops or is released. The
// body of the loop may take its time; it delays nobody else.
// It is a handler like any other, named "Events", and takes the same options.
func (i *Informer[T]) Events(ctx context.Context, opts ...HandlerOption) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		events := make(chan Event[T])
		quit := make(chan struct{})
		r, err := i.AddEventHandler(HandlerFunc[T](func(e Event[T]) {
			select {
			case events <- e:
			case <-quit:
			case <-i.stopping:
			}
		}), append([]HandlerOption{WithName("Events"), WithHandlerResync(0), WithSlowCall(0)}, opts...)...)
		if err != nil {
			return
		}
		defer func() {
			close(quit)
			_ = i.RemoveEventHandler(r) // it may be gone with the informer
			<-r.Done()
		}()
		for {
			select {
			case e := <-events:
				if ctx.Err() != nil || r.over.Load() || !yield(e) {
					return
				}
			case <-ctx.Done():
				return
			case <-r.quit:
				return
			}
		}
	}
}

func (i *Informer[T]) markSynced() {
	i.hub.markSynced()
	close(i.synced)
}

func (i *Informer[T]) reportIndexErrors(errs []*indexer.IndexError) {
	i.indexErrors.Add(uint64(len(errs)))
	for _, err := range errs {
		i.opts.Logger.Warn("index function failed; the object is stored, but not found by this index",
			"informer", i.opts.Name, "index", err.Index, "key", err.Key.String(), "err", err.Err)
	}
}

// beginReuse is the store as the source asks it at the start of a list. It may
// be behind what the reflector has read, and may move meanwhile: whatever has
// the same UID and version is the same object.
func (i *Informer[T]) beginReuse() reflector.Stored[T] {
	if i.store.Len() == 0 {
		return nil
	}
	return i.store.Item
}

// stored is a part's range of the store as its DeltaFIFO asks it.
type stored[T metav1.Object] struct {
	*indexer.Indexer[T]
	part *part[T]
}

func (s stored[T]) Item(key object.Key) (object.Item[T], bool) {
	if !s.part.covers(key) {
		return object.Item[T]{}, false
	}
	return s.Indexer.Item(key)
}

func (s stored[T]) Keys() iter.Seq[object.Key] {
	return func(yield func(object.Key) bool) {
		objects := s.Snapshot().All()
		if !s.part.whole {
			objects = s.Snapshot().Namespace(s.part.namespace)
		}
		for key := range objects {
			if !yield(key) {
				return
			}
		}
	}
}
