package deltafifo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// DeltaFIFO is the classic queue: it collects the deltas of each object and
// hands them over object by object, in the order in which the objects were
// first queued. The order between objects is lost; see [InOrder].
//
// Ownership: the gate's lock guards every field but batch, which belongs to
// whoever holds the gate's turn. The deltas within flying may be read with
// either.
type DeltaFIFO[T metav1.Object] struct {
	gate
	known KnownObjects[T] // may be nil

	waiting pending[T]
	// flying is what is being processed. The store doesn't show it yet, so to
	// every decision it stands before the store (Q9).
	flying pending[T]
	spare  spares[T]

	// version is the resourceVersion of the last write that PopBatch hasn't
	// handed over, or "". It isn't a part of the depth.
	version string

	batch []Delta[T] // empty while no PopBatch runs
}

var _ Queue[*metav1.PartialObjectMetadata] = (*DeltaFIFO[*metav1.PartialObjectMetadata])(nil)

// NewDeltaFIFO returns an empty queue.
func NewDeltaFIFO[T metav1.Object](opts Options[T]) *DeltaFIFO[T] {
	return &DeltaFIFO[T]{
		gate:    newGate(opts.MaxDepth),
		known:   opts.KnownObjects,
		waiting: newPending[T](),
		flying:  newPending[T](),
	}
}

// Add queues an Added delta.
func (f *DeltaFIFO[T]) Add(ctx context.Context, item object.Item[T]) error {
	return f.write(ctx, Delta[T]{Type: Added, Item: item})
}

// Update queues an Updated delta.
func (f *DeltaFIFO[T]) Update(ctx context.Context, item object.Item[T]) error {
	return f.write(ctx, Delta[T]{Type: Updated, Item: item})
}

// Delete queues a Deleted delta, if the object is known: queued, being
// processed, or in the store. Otherwise a list has already told of the
// deletion, and only the resourceVersion is taken.
func (f *DeltaFIFO[T]) Delete(ctx context.Context, item object.Item[T]) error {
	return f.write(ctx, Delta[T]{Type: Deleted, Item: item})
}

func (f *DeltaFIFO[T]) write(ctx context.Context, d Delta[T]) error {
	if err := checkKey(d.Item.Key); err != nil {
		return err
	}
	if err := f.lockToWrite(ctx); err != nil {
		return err
	}
	grown := 0
	if d.Type != Deleted || f.isKnown(d.Item.Key) {
		grown = f.waiting.push(d, &f.spare)
	}
	f.setVersion(d.Item.ResourceVersion)
	f.progress.wrote()
	f.unlockWritten(grown)
	return nil
}

// isKnown reports whether the store holds the key or will, or a deletion of it
// waits.
func (f *DeltaFIFO[T]) isKnown(key object.Key) bool {
	if f.waiting.newest(key) != nil {
		return true
	}
	if d := f.flying.newest(key); d != nil {
		return d.Type != Deleted
	}
	if f.known == nil {
		return false
	}
	_, ok := f.known.Item(key)
	return ok
}

func (f *DeltaFIFO[T]) setVersion(rv string) {
	if rv != "" {
		f.version = rv
	}
}

// Bookmark has the resourceVersion handed over behind all that is queued. It
// waits for no room, since it takes none.
func (f *DeltaFIFO[T]) Bookmark(ctx context.Context, resourceVersion string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.setVersion(resourceVersion)
	f.unlockWritten(0)
	return nil
}
