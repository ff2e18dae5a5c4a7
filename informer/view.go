package informer

import (
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// view is what a handler has been told, kept while the handler does not
// follow the log: because it has just joined (it was told nothing), or because
// it fell behind. It is the state base, except for the keys in owed: of those
// the handler still has the older state that stands there.
//
// A view costs one snapshot plus the keys of the events that were pending when
// it was made. It does not grow while the handler sleeps (H6).
type view[T metav1.Object] struct {
	source Source
	base   *indexer.Snapshot[T] // nil: nothing
	owed   []owed[T]            // diff sorts them
	known  map[object.Key]struct{}
}

// owed is a key whose state in the handler's eyes differs from base. A nil
// item: the handler doesn't know the object.
type owed[T metav1.Object] struct {
	key  object.Key
	told *object.Item[T]
}

// owe notes the state that the handler was told of a key before the change c,
// which it was not told. Only the first change of a key matters.
func (v *view[T]) owe(c indexer.Change[T]) {
	key := changeKey(c)
	if _, ok := v.known[key]; ok {
		return
	}
	if v.known == nil {
		v.known = make(map[object.Key]struct{})
	}
	v.known[key] = struct{}{}
	v.owed = append(v.owed, owed[T]{key: key, told: c.Old})
}

// diff yields what leads from the view to the state now, in the order of keys:
// at most one step for each (two where the object was deleted and made anew),
// however many events were missed.
func (v *view[T]) diff(now *indexer.Snapshot[T]) iter.Seq[indexer.Change[T]] {
	return func(yield func(indexer.Change[T]) bool) {
		slices.SortFunc(v.owed, func(a, b owed[T]) int { return a.key.Compare(b.key) })
		pending := v.owed
		// settle yields the steps of the owed keys up to a key, or of all.
		settle := func(upTo *object.Key) bool {
			for len(pending) > 0 && (upTo == nil || pending[0].key.Compare(*upTo) < 0) {
				o := pending[0]
				pending = pending[1:]
				var current *object.Item[T]
				if item, ok := now.Item(o.key); ok {
					current = &item
				}
				for _, c := range steps(o.told, current) {
					if !yield(c) {
						return false
					}
				}
			}
			return true
		}
		for c := range indexer.Diff(v.base, now) {
			key := changeKey(c)
			if !settle(&key) {
				return
			}
			if _, ok := v.known[key]; ok {
				continue // settled from what the handler was told, not from base
			}
			if !yield(c) {
				return
			}
		}
		settle(nil)
	}
}

// steps leads from one state of a key to another; nil is absence. They are
// none, one, or two where the object was made anew (H5).
func steps[T metav1.Object](told, current *object.Item[T]) []indexer.Change[T] {
	switch {
	case told == nil && current == nil:
		return nil
	case told == nil:
		return []indexer.Change[T]{{Type: indexer.Added, New: current}}
	case current == nil:
		return []indexer.Change[T]{{Type: indexer.Deleted, Old: told}}
	case told.UID != current.UID:
		return []indexer.Change[T]{{Type: indexer.Deleted, Old: told}, {Type: indexer.Added, New: current}}
	case told.SameVersion(*current):
		return nil
	}
	return []indexer.Change[T]{{Type: indexer.Updated, Old: told, New: current}}
}

func changeKey[T metav1.Object](c indexer.Change[T]) object.Key {
	if c.New != nil {
		return c.New.Key
	}
	return c.Old.Key
}
