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
		at, old := ix.lookup(o.item.Key)
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
			ix.remove(at)
			r.Changes = append(r.Changes, Change[T]{Type: Deleted, Cause: o.cause, Old: &old.item, Final: finalOf(o)})
			continue
		}
		e := ix.put(at, &o.item, valuesFor(old, set, b.vals[o.from:o.to]), set.generation)
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

// lookup returns the slot of a key and what is there at present, if there is
// one. Under mu, or as current does.
func (ix *Indexer[T]) lookup(key object.Key) (*slot[T], *entry[T]) {
	s := ix.slots.find(key)
	if s == nil {
		return nil, nil
	}
	return s, s.now.Load()
}

// put stores an item in the slot of its key, which is nil if there is none yet.
// Under mu, in an odd turn.
func (ix *Indexer[T]) put(s *slot[T], item *object.Item[T], vals []value, generation uint32) *entry[T] {
	isNew := s == nil
	if isNew {
		s = &slot[T]{key: item.Key, id: ix.table.claim(), hash: ix.slots.hash(item.Key)}
		// One copy of a namespace's name for all: it is what lookups compare.
		s.key.Namespace = unique.Make(s.key.Namespace).Value()
	}
	e := &entry[T]{slot: s, item: *item, vals: vals, generation: generation}
	e.item.Key = s.key // all versions share its bytes
	s.now.Store(e)
	ix.table.set(s.id, e)
	if isNew {
		ix.slots.add(s)
		ix.order.put(s)
	}
	return e
}

// remove deletes a slot, which must be in no index any more. Under mu, in an odd
// turn.
func (ix *Indexer[T]) remove(s *slot[T]) {
	ix.slots.remove(s)
	ix.order.remove(s)
	ix.table.release(s.id)
	s.now.Store(nil)
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
