package deltafifo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// InOrder is a queue that hands over every write, in order, as it was made.
// Only adjacent bookmarks become one. A Replace is one ReplacedAll delta and a
// Resync one SyncAll: the consumer, who has the store, works out what they mean.
//
// Ownership: waiting is guarded by the gate's lock; spare belongs to whoever
// holds the gate's turn.
type InOrder[T metav1.Object] struct {
	gate
	waiting []Delta[T]
	// spare is empty and holds no objects. Popping swaps it with waiting, so
	// that two slices serve for ever.
	spare []Delta[T]
}

var _ Queue[*metav1.PartialObjectMetadata] = (*InOrder[*metav1.PartialObjectMetadata])(nil)

// NewInOrder returns an empty queue.
func NewInOrder[T metav1.Object](opts Options[T]) *InOrder[T] {
	return &InOrder[T]{gate: newGate(opts.MaxDepth)}
}

// Add queues one Added delta.
func (q *InOrder[T]) Add(ctx context.Context, item object.Item[T]) error {
	return q.write(ctx, Delta[T]{Type: Added, Item: item})
}

// Update queues one Updated delta.
func (q *InOrder[T]) Update(ctx context.Context, item object.Item[T]) error {
	return q.write(ctx, Delta[T]{Type: Updated, Item: item})
}

// Delete queues one Deleted delta, whether or not the object is known.
func (q *InOrder[T]) Delete(ctx context.Context, item object.Item[T]) error {
	return q.write(ctx, Delta[T]{Type: Deleted, Item: item})
}

func (q *InOrder[T]) write(ctx context.Context, d Delta[T]) error {
	if err := checkKey(d.Item.Key); err != nil {
		return err
	}
	if err := q.lockToWrite(ctx); err != nil {
		return err
	}
	q.waiting = append(q.waiting, d)
	q.progress.wrote()
	q.unlockWritten(1)
	return nil
}

// Replace queues one ReplacedAll delta.
func (q *InOrder[T]) Replace(ctx context.Context, list List[T]) error {
	for i := range list.Items {
		if err := checkKey(list.Items[i].Key); err != nil {
			return err
		}
	}
	if err := q.lockToWrite(ctx); err != nil {
		return err
	}
	q.waiting = append(q.waiting, Delta[T]{Type: ReplacedAll, Initial: !q.progress.populated, List: &list})
	q.progress.replaced(len(q.waiting))
	q.unlockWritten(1)
	return nil
}

// Bookmark queues one Bookmark delta, or moves the one that is last in the queue.
func (q *InOrder[T]) Bookmark(ctx context.Context, resourceVersion string) error {
	if err := q.lockToWrite(ctx); err != nil {
		return err
	}
	if last := Deltas[T](q.waiting).Newest(); last != nil && last.Type == Bookmark {
		last.Item.ResourceVersion = resourceVersion
		q.unlockWritten(0)
		return nil
	}
	d := Delta[T]{Type: Bookmark}
	d.Item.ResourceVersion = resourceVersion
	q.waiting = append(q.waiting, d)
	q.unlockWritten(1)
	return nil
}

// Resync queues one SyncAll delta.
func (q *InOrder[T]) Resync(ctx context.Context) error {
	if err := q.lockToWrite(ctx); err != nil {
		return err
	}
	q.waiting = append(q.waiting, Delta[T]{Type: SyncAll})
	q.unlockWritten(1)
	return nil
}

// PopBatch hands over all that is queued, in the order of the writes. See
// [Queue].
func (q *InOrder[T]) PopBatch(ctx context.Context, process func([]Delta[T]) error) error {
	if err := q.lockToPop(ctx, func() bool { return len(q.waiting) > 0 }); err != nil {
		return err
	}
	batch := q.waiting
	q.waiting, q.spare = q.spare, nil
	q.unlockTaken(len(batch), len(batch))

	ok := false
	defer func() { q.finish(batch, ok) }() // also when process panics
	err := process(batch)
	ok = err == nil
	return err
}

func (q *InOrder[T]) finish(batch []Delta[T], ok bool) {
	n := len(batch)
	clear(batch)
	if worthKeeping(n, cap(batch)) {
		q.spare = batch[:0]
	}
	q.mu.Lock()
	q.progress.processed(ok)
	q.mu.Unlock()
	<-q.turn
}
