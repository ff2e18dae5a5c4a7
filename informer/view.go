package informer

import (
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// view is what a handler has been told, kept while the handler does not
// follow the log: because it has just joined (it was told nothing), or because
// it fell behind. It is the state base, except for the keys in owed: of those
// the handler still has the state that is told there.
//
// A view costs one snapshot plus the keys of the events that were pending when
// it was made. It does not grow while the handler sleeps (H6).
type view[T metav1.Object] struct {
	source Source
	at     time.Duration        // since when something waits
	base   *indexer.Snapshot[T] // nil: nothing
	owed   pending[T]
}

// diff yields what leads from the view to the state now, in the order of keys:
// at most one step for each (two where the object was deleted and made anew),
// however many events were missed.
func (v *view[T]) diff(now *indexer.Snapshot[T]) iter.Seq[indexer.Change[T]] {
	return func(yield func(indexer.Change[T]) bool) {
		owed := make([]*pendingKey[T], 0, v.owed.len())
		for e := v.owed.first; e != nil; e = e.next {
			owed = append(owed, e)
		}
		slices.SortFunc(owed, func(a, b *pendingKey[T]) int { return a.key.Compare(b.key) })
		// settle yields the steps of the owed keys up to a key, or of all.
		settle := func(upTo *object.Key) bool {
			for len(owed) > 0 && (upTo == nil || owed[0].key.Compare(*upTo) < 0) {
				e := owed[0]
				owed = owed[1:]
				var current *object.Item[T]
				if item, ok := now.Item(e.key); ok {
					current = &item
				}
				for _, c := range steps(e.told, current, e.end) {
					if !yield(c) {
						return false
					}
				}
			}
			return true
		}
		for c := range indexer.Diff(v.base, now) {
			key := c.Key()
			if !settle(&key) {
				return
			}
			if v.owed.byKey[key] != nil {
				continue // settled from what the handler was told, not from base
			}
			if !yield(c) {
				return
			}
		}
		settle(nil)
	}
}
