package indexer

import (
	"slices"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Result is what a commit did.
type Result[T metav1.Object] struct {
	// Changes in the order of the operations. An item whose UID differs from
	// the stored one makes two of one operation, Deleted and Added; readers
	// see no moment between them.
	Changes []Change[T]
	// Sequence is the number of the commit: one more than before if anything
	// changed, the resourceVersion included; else as before.
	Sequence uint64
	// Stale is how many operations were skipped because the store held the
	// same or a newer version, or because a deletion meant an older object.
	Stale int
	// Errors of index functions for the items stored. Everything else was done.
	Errors []*IndexError
}

// Commit applies a batch in one step (S2): readers see all of it or nothing.
// rv becomes the store's resourceVersion; "" keeps the one it has. The batch
// can be used again after [Batch.Reset].
func (ix *Indexer[T]) Commit(b *Batch[T], rv string) Result[T] {
	// Each index function is asked once about each item, so this ends even if
	// the functions themselves add and remove indexes.
	for asked := uint32(0); ; {
		set := ix.set.Load()
		b.compute(set, asked)
		asked = max(asked, set.lastID())
		if result, ok := ix.tryCommit(b, rv, set); ok {
			return result
		}
	}
}

// tryCommit fails if the index values were computed for other indexes than
// those in force.
func (ix *Indexer[T]) tryCommit(b *Batch[T], rv string, set *indexSet[T]) (r Result[T], ok bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.set.Load() != set {
		return r, false
	}
	ix.turn.Add(1)
	for i := range b.ops {
		o := &b.ops[i]
		old := ix.keys.find(o.item.Key)
		if skip(o, old) {
			r.Stale++
			continue
		}
		if o.kind == opDelete && old == nil {
			continue
		}
		if r.Changes == nil {
			r.Changes = make([]Change[T], 0, len(b.ops)-i)
		}
		if o.kind == opDelete {
			ix.reindex(old, nil)
			ix.remove(old)
			r.Changes = append(r.Changes, Change[T]{Type: Deleted, Cause: o.cause, Old: &old.item, Final: finalOf(o)})
			continue
		}
		e := ix.put(old, &o.item, valuesFor(old, set, b.vals[o.from:o.to]), set.generation)
		ix.reindex(old, e)
		r.Errors = append(r.Errors, o.errs...)
		r.Changes = appendChanges(r.Changes, old, e)
	}
	ix.finish(len(r.Changes) > 0, rv)
	ix.turn.Add(1)
	r.Sequence = ix.sequence
	return r, true
}

// skip reports whether an operation comes too late. old may be nil.
func skip[T metav1.Object](o *op[T], old *entry[T]) bool {
	if old == nil {
		return false
	}
	switch o.kind {
	case opSet:
		return o.item.SameVersion(old.item)
	case opSetNewer:
		return o.item.SameVersion(old.item) ||
			o.item.UID == old.item.UID && object.Newer(old.item.ResourceVersion, o.item.ResourceVersion)
	case opDelete:
		return recreated(&old.item, &o.item)
	}
	return false
}

func finalOf[T metav1.Object](o *op[T]) *object.Item[T] {
	if isNil(o.item.Object) {
		return nil
	}
	final := o.item
	return &final
}

// valuesFor returns the list as values to remember: those of the old entry, if
// they are the same, so that nothing need be moved in the indexes.
func valuesFor[T metav1.Object](old *entry[T], set *indexSet[T], list []value) []value {
	if old != nil && old.generation == set.generation && slices.Equal(old.vals, list) {
		return old.vals
	}
	return slices.Clone(list)
}

// put stores an item in the place of the entry of its key, or nil. Under mu, in
// an odd turn.
func (ix *Indexer[T]) put(old *entry[T], item *object.Item[T], vals []value, generation uint32) *entry[T] {
	e := &entry[T]{item: *item, vals: vals, generation: generation}
	if old != nil {
		e.slot, e.hash = old.slot, old.hash
	} else {
		e.slot, e.hash = &slot[T]{key: item.Key, id: ix.table.claim()}, ix.keys.hash(item.Key)
		// One copy of a namespace's name for all: it is what lookups compare.
		e.slot.key.Namespace = unique.Make(e.slot.key.Namespace).Value()
	}
	e.item.Key = e.slot.key // all versions share its bytes
	ix.table.set(e.slot.id, e)
	if old != nil {
		ix.keys.replace(old, e)
	} else {
		ix.keys.add(e)
		ix.order.put(e.slot)
	}
	return e
}

// remove deletes an entry, which must be in no index any more. Under mu, in an
// odd turn.
func (ix *Indexer[T]) remove(e *entry[T]) {
	ix.keys.remove(e)
	ix.order.remove(e.slot)
	ix.table.release(e.slot.id)
}

// finish ends a commit. Under mu.
func (ix *Indexer[T]) finish(changed bool, rv string) {
	if rv != "" && rv != ix.rv {
		ix.rv = rv
		changed = true
	}
	if changed {
		ix.sequence++
		ix.cached.Store(nil)
	}
}

// SetResourceVersion says that the present objects are also the state at a
// later version, as a bookmark does. "" changes nothing.
func (ix *Indexer[T]) SetResourceVersion(rv string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.finish(false, rv)
}
