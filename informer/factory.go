package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/reflector"
)

// Factory makes informers that share a cluster and settings, one for each
// resource and Go type, and runs them together.
type Factory struct {
	config *rest.Config
	opts   factoryOptions

	mu        sync.Mutex // guards what follows; not held while an informer runs
	informers map[factoryKey]*factoryEntry
	made      int                  // informers made so far
	cancels   []context.CancelFunc // one for each Start
	stopped   bool
	running   sync.WaitGroup
}

type factoryKey struct {
	resource schema.GroupVersionResource
	object   reflect.Type
}

// factoryEntry is an informer of any T.
type factoryEntry struct {
	informer runner
	name     string
	made     int // its number among those that the factory has made
	started  bool
}

type runner interface {
	Run(context.Context) error
	WaitForSync(context.Context) error
	Observed
}

// FactoryOption is a setting of all the informers of a factory.
type FactoryOption func(*factoryOptions)

type factoryOptions struct {
	namespace      string
	labelSelector  string
	fieldSelector  string
	encoding       reflector.Encoding
	queue          QueueKind
	maxLag         int
	mutations      MutationPolicy
	mutationSample int
	resync         time.Duration
	alwaysDecode   bool
	reflector      reflector.Options
	shard          reflector.Shard
	sharded        bool
	polling        time.Duration
	verification   time.Duration
	logger         *slog.Logger
	trace          func(informer string) *Trace
}

// WithNamespace limits the informers to one namespace. Built-in
// cluster-scoped resources are not affected.
func WithNamespace(namespace string) FactoryOption {
	return func(o *factoryOptions) { o.namespace = namespace }
}

// WithLabelSelector has the server send only objects with these labels. An
// object that stops matching is told as Deleted.
func WithLabelSelector(selector string) FactoryOption {
	return func(o *factoryOptions) { o.labelSelector = selector }
}

// WithFieldSelector has the server send only objects with these fields. Which
// fields a server can select by depends on the resource; see [Lister.List] for
// any others.
func WithFieldSelector(selector string) FactoryOption {
	return func(o *factoryOptions) { o.fieldSelector = selector }
}

// WithResync replays the store to each handler every d. It makes no request
// and finds nothing that was missed: see [WithHandlerResync].
func WithResync(d time.Duration) FactoryOption {
	return func(o *factoryOptions) { o.resync = d }
}

// WithEncoding fixes the wire format. The default is protobuf where the type
// has it, and JSON elsewhere.
func WithEncoding(e reflector.Encoding) FactoryOption {
	return func(o *factoryOptions) { o.encoding = e }
}

// WithQueue chooses the queue between reflector and store.
func WithQueue(k QueueKind) FactoryOption {
	return func(o *factoryOptions) { o.queue = k }
}

// WithMaxLag sets [Options.MaxLag].
func WithMaxLag(n int) FactoryOption {
	return func(o *factoryOptions) { o.maxLag = n }
}

// WithAlwaysDecode sets [Options.AlwaysDecode].
func WithAlwaysDecode() FactoryOption {
	return func(o *factoryOptions) { o.alwaysDecode = true }
}

// WithShard limits the informers to one of count parts of the objects: each
// object is in exactly one of them. Processes that take one part each share the
// work. Where the server can select (KEP-5866) it does, and saves the traffic
// as well; where it can't, the rest is dropped on arrival. An index that isn't
// from 0 to below count is an error of For and ForResource.
func WithShard(index, count int) FactoryOption {
	return func(o *factoryOptions) { o.shard, o.sharded = reflector.Shard{Index: index, Count: count}, true }
}

// WithPolling allows resources that can't be watched: they are listed every
// interval, and handlers are told the differences. Without it such a resource
// is an error in Status and WaitForSync, and so is an interval of 0. It takes
// precedence over WithReflector.
func WithPolling(interval time.Duration) FactoryOption {
	return func(o *factoryOptions) { o.polling = interval }
}

// WithVerification lists everything again every d, to find what no event told
// of: see [reflector.Options].VerifyEvery and Status.Drift. It takes precedence
// over WithReflector.
func WithVerification(d time.Duration) FactoryOption {
	return func(o *factoryOptions) { o.verification = d }
}

// WithReflector passes settings through to the reflectors.
func WithReflector(r reflector.Options) FactoryOption {
	return func(o *factoryOptions) { o.reflector = r }
}

// WithLogger sets where the informers log.
func WithLogger(l *slog.Logger) FactoryOption {
	return func(o *factoryOptions) { o.logger = l }
}

// NewFactory makes a factory for the cluster that config leads to. Nothing is
// sent until Start.
func NewFactory(config *rest.Config, opts ...FactoryOption) *Factory {
	f := &Factory{config: config, informers: make(map[factoryKey]*factoryEntry)}
	for _, set := range opts {
		set(&f.opts)
	}
	return f
}

// For returns the factory's informer for a built-in type, such as
// *corev1.Pod, and makes it on the first call.
func For[T metav1.Object](f *Factory) (*Informer[T], error) {
	resource, err := resourceOf[T]()
	if err != nil {
		return nil, err
	}
	return ForResource[T](f, resource)
}

// ForResource returns the factory's informer for any resource, decoded into
// T: *unstructured.Unstructured, *metav1.PartialObjectMetadata, or a struct of
// one's own that has the JSON fields it wants. Each pair of resource and T has
// one informer.
func ForResource[T metav1.Object](f *Factory, resource schema.GroupVersionResource) (*Informer[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, fmt.Errorf("%w: the factory was shut down", ErrStopped)
	}
	key := factoryKey{resource, reflect.TypeFor[T]()}
	if entry, ok := f.informers[key]; ok {
		return entry.informer.(*Informer[T]), nil // the key holds T
	}
	namespace := f.opts.namespace
	if clusterScoped(resource) {
		namespace = ""
	}
	if f.opts.sharded && f.opts.shard.Count < 1 {
		return nil, fmt.Errorf("informer: shard %d of %d: there must be at least one", f.opts.shard.Index, f.opts.shard.Count)
	}
	source, err := reflector.NewHTTPSource(f.config, resource, reflector.SourceOptions[T]{
		Namespace:     namespace,
		LabelSelector: f.opts.labelSelector,
		FieldSelector: f.opts.fieldSelector,
		Encoding:      f.opts.encoding,
		Shard:         f.opts.shard,
	})
	if err != nil {
		return nil, err
	}
	wire := f.opts.reflector
	wire.PollInterval = cmp.Or(f.opts.polling, wire.PollInterval)
	wire.VerifyEvery = cmp.Or(f.opts.verification, wire.VerifyEvery)
	i := New(source, Options[T]{
		Name:      resource.GroupResource().String(),
		Resource:  resource.GroupResource(),
		Queue:     f.opts.queue,
		MaxLag:    f.opts.maxLag,
		Mutations: f.opts.mutations, MutationSample: f.opts.mutationSample,
		Resync:       f.opts.resync,
		AlwaysDecode: f.opts.alwaysDecode,
		Reflector:    wire,
		Logger:       f.opts.logger,
		Trace:        f.opts.traceOf(resource.GroupResource().String()),
	})
	f.made++
	f.informers[key] = &factoryEntry{informer: i, name: i.opts.Name, made: f.made}
	return i, nil
}

// Start runs every informer that was asked for and doesn't run yet. It does
// not wait. Call it again after asking for more. The informers end with ctx,
// or with Shutdown.
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	f.cancels = append(f.cancels, cancel)
	for _, entry := range f.informers {
		if entry.started {
			continue
		}
		entry.started = true
		f.running.Go(func() {
			// What ends Run early is returned by WaitForSync too, and logged
			// by the reflector.
			_ = entry.informer.Run(ctx)
		})
	}
}

// WaitForCacheSync returns nil once every informer that was started has
// synced. When ctx ends first, it returns a [*NotSyncedError] for each that
// has not, joined. After Shutdown, that includes those that never ran.
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	var errs []error
	f.mu.Lock()
	var started []runner
	for _, entry := range f.informers {
		switch {
		case entry.started:
			started = append(started, entry.informer)
		case f.stopped: // and never will be
			errs = append(errs, &NotSyncedError{Status: entry.informer.Status(), Err: ErrStopped})
		}
	}
	f.mu.Unlock()
	slices.SortFunc(started, func(a, b runner) int { return cmp.Compare(a.Status().Name, b.Status().Name) })
	for _, i := range started {
		errs = append(errs, i.WaitForSync(ctx))
	}
	return errors.Join(errs...)
}

// Shutdown ends the informers and returns when all their goroutines have
// ended. The factory can't be used again.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.stopped = true
	for _, cancel := range f.cancels {
		cancel()
	}
	f.mu.Unlock()
	f.running.Wait()
}
