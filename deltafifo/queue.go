package deltafifo

import (
	"context"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Queue is what stands between a reflector and a store. [*InOrder] and
// [*DeltaFIFO] implement it. Every method is safe for concurrent use.
//
// A write blocks while the queue is full, until there is room, ctx ends
// ([*FullError]) or the queue is closed ([ErrClosed]). A write that fails has
// changed nothing. An item without a name is a [*object.KeyError].
type Queue[T metav1.Object] interface {
	Add(ctx context.Context, item object.Item[T]) error
	Update(ctx context.Context, item object.Item[T]) error
	// Delete takes the last state as the watch reported it.
	Delete(ctx context.Context, item object.Item[T]) error
	// Replace takes the whole state. The list belongs to the queue from then on.
	Replace(ctx context.Context, list List[T]) error
	// Bookmark says that the writes so far are all there is up to this
	// resourceVersion.
	Bookmark(ctx context.Context, resourceVersion string) error
	// Resync asks for what the store holds to be processed once more.
	Resync(ctx context.Context) error

	// PopBatch blocks until something is queued, takes all of it, and calls
	// process with it once. It returns process's error as it is; ctx's error
	// if ctx ends before a batch is taken; [ErrClosed] once the queue is
	// closed and drained.
	//
	// The slice belongs to the queue again when process returns. What process
	// failed on isn't queued again.
	//
	// Calls of process never overlap: several poppers take turns (Q4). So
	// process must not pop from the same queue. It may write to it, but not
	// when the queue may be full, since it is what makes room.
	PopBatch(ctx context.Context, process func([]Delta[T]) error) error

	// HasSynced reports whether the first Replace has been processed, to its
	// last item (Q5). Synced returns a channel that is closed at that moment.
	HasSynced() bool
	Synced() <-chan struct{}

	// Depth counts the deltas that wait. Those being processed aren't among them.
	Depth() int

	// Close makes every write fail from now on, blocked ones included. What is
	// queued can still be popped; then poppers get [ErrClosed].
	Close()
}

// KnownObjects is what the consumer's store holds. A [DeltaFIFO] calls it
// with its lock held, so it must not call the queue.
type KnownObjects[T metav1.Object] interface {
	Keys() iter.Seq[object.Key]
	Item(key object.Key) (object.Item[T], bool)
}

// DefaultMaxDepth is the bound of a queue whose options give none.
const DefaultMaxDepth = 10_000

// Options are the options of both queues. The zero value is usable.
type Options[T metav1.Object] struct {
	// KnownObjects is the store that the deltas are applied to. Without it a
	// DeltaFIFO finds deletions only among what it has queued, and Resync does
	// nothing. InOrder doesn't use it.
	KnownObjects KnownObjects[T]

	// MaxDepth is how many deltas may wait before writes block; 0 or less
	// means [DefaultMaxDepth]. One write is taken whole as soon as there is
	// room for one delta, so a Replace or a Resync of a DeltaFIFO, which
	// queue a delta for every object, can exceed it by as much. To InOrder a
	// list is one delta.
	MaxDepth int
}
