package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/reflector"
)

// Factory makes informers that share a cluster and settings, and runs them
// together. Requests for the same objects in the same type share one informer:
// see [ForResource]. Each request gets a lease on it, which it can give back:
// see [Informer.Release].
//
// All methods may be called at any time, by any number of goroutines and by
// handlers, except that a handler must not call Shutdown: it would wait for
// itself.
type Factory struct {
	config *rest.Config
	opts   factoryOptions

	running sync.WaitGroup // informers; Add only under mu and not once stopped

	// mu guards what follows and the entries. Lock order: mu, then an
	// informer's own locks. It isn't held while anything is waited for.
	mu        sync.Mutex
	informers map[factoryKey]*factoryEntry
	made      int             // informers made so far
	ctx       context.Context // the last Start's; nil before
	stopped   bool
}

// factoryEntry is an informer of any T.
type factoryEntry struct {
	informer runner
	name     string
	wanted   wanted // what it was made for
	made     int    // its number among those that the factory has made
	leases   int    // given out and not given back

	// The informer runs until ctx ends. Both are set once, when it is started.
	ctx    context.Context
	cancel context.CancelFunc
}

type runner interface {
	run(context.Context) error
	WaitForSync(context.Context) error
	Done() <-chan struct{}
	Observed
}

// NewFactory makes a factory for the cluster that config leads to. Nothing is
// sent until Start.
func NewFactory(config *rest.Config, opts ...FactoryOption) *Factory {
	f := &Factory{config: config, informers: make(map[factoryKey]*factoryEntry)}
	for _, o := range opts {
		o.applyTo(&f.opts)
	}
	return f
}

// For returns the factory's informer for a built-in type, such as *corev1.Pod.
// It is [ForResource] for the type's own resource.
func For[T metav1.Object](f *Factory, opts ...InformerOption) (*Informer[T], error) {
	resource, err := resourceOf[T]()
	if err != nil {
		return nil, err
	}
	return ForResource[T](f, resource, opts...)
}

// ForResource returns the factory's informer for any resource, decoded into
// T: *unstructured.Unstructured, *metav1.PartialObjectMetadata, or a struct of
// one's own that has the JSON fields it wants. It runs from Start on, or at once
// if that was called before.
//
// Which informer it is depends on the resource, T, the namespaces and the
// selectors. Requests in which these agree share one, which is made for the
// first of them; any others have nothing to do with each other. Requests that
// share must agree in transform and filter as well, or the error is a
// [*MismatchError].
//
// An informer that has ended is not given out again: the request makes a new
// one. After Shutdown the error is [ErrStopped].
func ForResource[T metav1.Object](f *Factory, resource schema.GroupVersionResource, opts ...InformerOption) (*Informer[T], error) {
	asked := f.opts.wanted
	for _, set := range opts {
		set(&asked)
	}
	key, err := asked.key(resource, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, fmt.Errorf("%w: the factory was shut down", ErrStopped)
	}
	entry := f.informers[key]
	if entry == nil || entry.over() {
		i, err := newOfFactory[T](f, resource, &asked)
		if err != nil {
			return nil, err
		}
		f.made++
		entry = &factoryEntry{informer: i, name: i.opts.Name, wanted: asked, made: f.made}
		f.informers[key] = entry
		if f.ctx != nil && f.ctx.Err() == nil {
			f.run(entry, f.ctx)
		}
	} else if err := entry.wanted.mismatch(entry.name, &asked); err != nil {
		return nil, err
	}
	entry.leases++
	shared := entry.informer.(*Informer[T]) // the key holds T
	return &Informer[T]{core: shared.core, lease: newLease(func() { f.giveBack(key, entry) })}, nil
}

// newOfFactory makes the informer that is asked for.
func newOfFactory[T metav1.Object](f *Factory, resource schema.GroupVersionResource, asked *wanted) (*Informer[T], error) {
	transform, err := transformFor[T](asked.transform)
	if err != nil {
		return nil, err
	}
	keep, err := filterFor[T](asked.filter)
	if err != nil {
		return nil, err
	}
	if f.opts.sharded && f.opts.shard.Count < 1 {
		return nil, fmt.Errorf("informer: shard %d of %d: there must be at least one", f.opts.shard.Index, f.opts.shard.Count)
	}
	newSource := func(namespace string) (reflector.Source[T], error) {
		return reflector.NewHTTPSource(f.config, resource, reflector.SourceOptions[T]{
			Namespace:     namespace,
			LabelSelector: asked.labelSelector,
			FieldSelector: asked.fieldSelector,
			Encoding:      f.opts.encoding,
			Shard:         f.opts.shard,
			Transform:     transform,
		})
	}
	wire := f.opts.reflector
	wire.PollInterval = cmp.Or(f.opts.polling, wire.PollInterval)
	wire.VerifyEvery = cmp.Or(f.opts.verification, wire.VerifyEvery)
	opts := Options[T]{
		Name:      resource.GroupResource().String(),
		Resource:  resource.GroupResource(),
		Keep:      keep,
		Queue:     f.opts.queue,
		MaxLag:    f.opts.maxLag,
		Mutations: f.opts.mutations, MutationSample: f.opts.mutationSample,
		Resync:       f.opts.resync,
		AlwaysDecode: f.opts.alwaysDecode,
		Reflector:    wire,
		Logger:       f.opts.logger,
		Trace:        f.opts.traceOf(resource.GroupResource().String()),
	}
	var i *Informer[T]
	if len(asked.namespaces) > 1 {
		i, err = NewForNamespaces(newSource, asked.namespaces, opts)
		if err != nil {
			return nil, err
		}
	} else {
		namespace := ""
		if len(asked.namespaces) == 1 {
			namespace = asked.namespaces[0]
		}
		source, err := newSource(namespace)
		if err != nil {
			return nil, err
		}
		i = New(source, opts)
	}
	i.ofFactory = true
	return i, nil
}

// Start runs the informers that were asked for, and from then on each new one
// as soon as it is asked for. They end with ctx, or with Shutdown. It doesn't
// wait. Further calls are allowed: informers that run go on, and those that are
// begun later end with the ctx of the last call. After Shutdown it does nothing,
// and WaitForCacheSync says so.
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	f.ctx = ctx
	for _, entry := range f.sorted() {
		if entry.ctx == nil {
			f.run(entry, ctx)
		}
	}
}

// run starts an informer. f.mu is held.
func (f *Factory) run(entry *factoryEntry, parent context.Context) {
	ctx, cancel := context.WithCancel(parent)
	entry.ctx, entry.cancel = ctx, cancel
	f.running.Go(func() {
		defer cancel()
		// What ends it early is returned by WaitForSync too, and logged by the
		// reflector.
		_ = entry.informer.run(ctx)
	})
}

// end ends an informer, without waiting. One that never ran is run with a
// context that is over, so that whoever waits for it hears of its end.
// f.mu is held.
func (f *Factory) end(entry *factoryEntry) {
	if entry.ctx == nil {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		f.run(entry, over)
	}
	entry.cancel()
}

// over reports whether the informer has ended or is about to. f.mu is held.
func (e *factoryEntry) over() bool {
	select {
	case <-e.informer.Done():
		return true
	default:
		return e.ctx != nil && e.ctx.Err() != nil
	}
}

// giveBack counts a lease off. With the last one the informer ends and is
// forgotten; if it had ended before, a newer one may be in its place.
func (f *Factory) giveBack(key factoryKey, entry *factoryEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if entry.leases--; entry.leases > 0 {
		return
	}
	if f.informers[key] == entry {
		delete(f.informers, key)
	}
	f.end(entry)
}

// WaitForCacheSync returns nil once every informer that the factory has at the
// time of the call has synced. When ctx ends first, it returns a
// [*NotSyncedError] for each that has not, joined. One that is released by all
// meanwhile is no error. After Shutdown there is always one, [ErrStopped].
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	f.mu.Lock()
	stopped := f.stopped
	entries := f.sorted()
	f.mu.Unlock()
	var errs []error
	if stopped {
		errs = append(errs, fmt.Errorf("%w: the factory was shut down", ErrStopped))
	}
	for _, entry := range entries {
		if err := entry.informer.WaitForSync(ctx); err != nil && f.has(entry) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// has reports whether somebody holds a lease on an informer.
func (f *Factory) has(entry *factoryEntry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return entry.leases > 0
}

// Shutdown ends the informers and returns when all their goroutines have
// ended, those of informers that were released before too. It may be called
// again, and waits then as well. The factory can't be used again.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.stopped = true
	for _, entry := range f.informers {
		f.end(entry)
	}
	f.mu.Unlock()
	f.running.Wait()
}

// sorted returns the informers by name, and those of one name in the order in
// which they were made. f.mu is held.
func (f *Factory) sorted() []*factoryEntry {
	entries := make([]*factoryEntry, 0, len(f.informers))
	for _, entry := range f.informers {
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b *factoryEntry) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.made, b.made))
	})
	return entries
}
