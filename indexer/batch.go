package indexer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Batch collects operations for one [Indexer.Commit]. They are applied in the
// order in which they were added; several may concern one key. The zero value
// is an empty batch. Not safe for concurrent use.
type Batch[T metav1.Object] struct {
	ops  []op[T]
	vals []value // of all ops, one after the other; valid during Commit
}

type op[T metav1.Object] struct {
	kind     opKind
	cause    uint8
	item     object.Item[T]
	from, to int // of Batch.vals
	errs     []*IndexError
}

type opKind uint8

const (
	opPut opKind = iota // whatever is stored
	opSet
	opSetNewer
	opDelete
)

// Set stores an item, unless the store holds the same version already.
func (b *Batch[T]) Set(item object.Item[T]) { b.ops = append(b.ops, op[T]{kind: opSet, item: item}) }

// SetNewer is Set for live events, which a server may repeat: it also skips a
// version that is not newer than the stored one of the same UID. Versions that
// can't be compared are stored.
func (b *Batch[T]) SetNewer(item object.Item[T]) {
	b.ops = append(b.ops, op[T]{kind: opSetNewer, item: item})
}

// Delete deletes what is stored under item.Key, if anything is. item.Object,
// unless it is nil, becomes the change's Final. An item with another UID than
// the stored one means an object that was deleted before the stored one was
// created, and is skipped; an item without UID means whatever is stored.
func (b *Batch[T]) Delete(item object.Item[T]) {
	b.ops = append(b.ops, op[T]{kind: opDelete, item: item})
}

// DeleteBecause is Delete with a cause, which the store hands through to the
// change ([Change].Cause). What it means is the caller's business.
func (b *Batch[T]) DeleteBecause(cause uint8, item object.Item[T]) {
	b.ops = append(b.ops, op[T]{kind: opDelete, cause: cause, item: item})
}

func (b *Batch[T]) put(item object.Item[T]) { b.ops = append(b.ops, op[T]{kind: opPut, item: item}) }

// Len is the number of operations.
func (b *Batch[T]) Len() int { return len(b.ops) }

// Reset makes the batch empty, to be used again. It holds on to its memory,
// not to any object.
func (b *Batch[T]) Reset() {
	b.ops = truncate(b.ops, 0)
	b.vals = truncate(b.vals, 0)
}

// compute asks the index functions of a set, except those up to the index
// asked, which it was called for before. User code: never under a lock.
func (b *Batch[T]) compute(set *indexSet[T], asked uint32) {
	fresh := set.after(asked)
	old, vals := b.vals, b.vals[:0]
	if asked > 0 {
		if len(fresh) == 0 {
			return
		}
		vals = nil // old is still read
	}
	for i := range b.ops {
		o := &b.ops[i]
		if asked == 0 {
			o.from, o.to, o.errs = 0, 0, nil
		}
		if o.kind == opDelete {
			continue
		}
		from := len(vals)
		vals = append(vals, old[o.from:o.to]...)
		vals, o.errs = appendValues(fresh, &o.item, vals, o.errs)
		o.from, o.to = from, len(vals)
	}
	b.vals = vals
}
