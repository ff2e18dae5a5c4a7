package informer

import (
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/indexer"
	"informer.example/object"
	"informer.example/reflector"
)

// QueueKind chooses the queue between reflector and store.
type QueueKind uint8

const (
	// InOrder keeps every event, in the order of arrival: what client-go's
	// informers use since 1.36.
	InOrder QueueKind = iota
	// DeltaFIFO groups events by key: what they used before.
	DeltaFIFO
)

func (k QueueKind) String() string {
	if k == DeltaFIFO {
		return "deltafifo"
	}
	return "inorder"
}

// DefaultMaxLag is the number of events that may wait for a handler before it
// is told differences of states instead of single events.
const DefaultMaxLag = 1024

// Options are an informer's settings. The zero value works.
type Options[T metav1.Object] struct {
	// Name stands in errors, logs and Status. Default: the type T.
	Name string
	// Resource stands in a lister's NotFound errors. Default: that of a built-in
	// type T, or else Name.
	Resource schema.GroupResource
	// Indexers are the indexes that the store has from the start.
	Indexers indexer.Indexers[T]
	// KeyFunc must be the one of the source. Default: object.KeyOf.
	KeyFunc object.KeyFunc[T]
	// Keep says which objects are to be in the store; nil is all. Those that
	// don't pass are as if they weren't there: an update after which an object
	// doesn't pass any more is told as Deleted, with [Filtered] as the reason
	// and the last state that passed. It is called once for each object
	// received, after the source's transform, and with several namespaces by
	// several goroutines. It must depend on the object alone and not change it.
	Keep func(T) bool
	// Queue is InOrder unless set.
	Queue QueueKind
	// QueueDepth bounds the queue, in deltas. When it is full the reflector
	// waits, and with it the server. 0: the queue's default.
	QueueDepth int
	// MaxLag: see DefaultMaxLag.
	MaxLag int
	// Resync is the handlers' default for WithHandlerResync. 0: none.
	Resync time.Duration
	// AlwaysDecode has every object of another list decoded, also one that is
	// stored already in the very version that the server sends. Without it
	// such an object is passed over, and what is stored stays: it has the same
	// UID and resourceVersion, so it is the same. The exception is a custom
	// resource whose definition has changed: a new schema, default or
	// conversion can give an object another form at the same resourceVersion.
	// Sources that aren't a [reflector.Reuser] always decode.
	AlwaysDecode bool
	// Reflector passes through to the reflector.
	Reflector reflector.Options
	// SlowCall is the handlers' default for WithSlowCall. 0: DefaultSlowCall;
	// negative: no warnings.
	SlowCall time.Duration
	// Mutations says what is done about stored objects that somebody changed,
	// and MutationSample that one in so many stored versions is checked (0:
	// DefaultMutationSample). See [MutationPolicy].
	Mutations      MutationPolicy
	MutationSample int
	// Trace is told each step on the way from the wire to a handler's return;
	// nil: nobody is. See [Trace].
	Trace *Trace
	// Logger gets what can't be returned to anybody. Default: slog.Default.
	Logger *slog.Logger
}
