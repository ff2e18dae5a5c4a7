package informer

import (
	"log/slog"
	"time"

	"informer.example/reflector"
)

// FactoryOption is a setting of all the informers of a factory.
type FactoryOption interface{ applyTo(*factoryOptions) }

// setting is a FactoryOption that is for NewFactory alone.
type setting func(*factoryOptions)

func (set setting) applyTo(o *factoryOptions) { set(o) }

type factoryOptions struct {
	wanted         wanted // by a request that says nothing else
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

// WithResync replays the store to each handler every d. It makes no request
// and finds nothing that was missed: see [WithHandlerResync].
func WithResync(d time.Duration) FactoryOption {
	return setting(func(o *factoryOptions) { o.resync = d })
}

// WithEncoding fixes the wire format. The default is protobuf where the type
// has it, and JSON elsewhere.
func WithEncoding(e reflector.Encoding) FactoryOption {
	return setting(func(o *factoryOptions) { o.encoding = e })
}

// WithQueue chooses the queue between reflector and store.
func WithQueue(k QueueKind) FactoryOption {
	return setting(func(o *factoryOptions) { o.queue = k })
}

// WithMaxLag sets [Options.MaxLag].
func WithMaxLag(n int) FactoryOption {
	return setting(func(o *factoryOptions) { o.maxLag = n })
}

// WithAlwaysDecode sets [Options.AlwaysDecode].
func WithAlwaysDecode() FactoryOption {
	return setting(func(o *factoryOptions) { o.alwaysDecode = true })
}

// WithShard limits the informers to one of count parts of the objects: each
// object is in exactly one of them. Processes that take one part each share the
// work. Where the server can select (KEP-5866) it does, and saves the traffic
// as well; where it can't, the rest is dropped on arrival. An index that isn't
// from 0 to below count is an error of For and ForResource.
func WithShard(index, count int) FactoryOption {
	return setting(func(o *factoryOptions) { o.shard, o.sharded = reflector.Shard{Index: index, Count: count}, true })
}

// WithPolling allows resources that can't be watched: they are listed every
// interval, and handlers are told the differences. Without it such a resource
// is an error in Status and WaitForSync, and so is an interval of 0. It takes
// precedence over WithReflector.
func WithPolling(interval time.Duration) FactoryOption {
	return setting(func(o *factoryOptions) { o.polling = interval })
}

// WithVerification lists everything again every d, to find what no event told
// of: see [reflector.Options].VerifyEvery and Status.Drift. It takes precedence
// over WithReflector.
func WithVerification(d time.Duration) FactoryOption {
	return setting(func(o *factoryOptions) { o.verification = d })
}

// WithReflector passes settings through to the reflectors.
func WithReflector(r reflector.Options) FactoryOption {
	return setting(func(o *factoryOptions) { o.reflector = r })
}

// WithLogger sets where the informers log.
func WithLogger(l *slog.Logger) FactoryOption {
	return setting(func(o *factoryOptions) { o.logger = l })
}
