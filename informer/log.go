package informer

import (
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
)

// segment is what one commit tells the handlers: a list of changes or, for a
// relist, the two states whose difference is to be told. Segments form the
// event log: a linked list that each handler walks at its own pace. Nothing
// points backwards, so what every handler has passed is garbage.
//
// All but next is immutable once published.
type segment[T metav1.Object] struct {
	seq    uint64 // the commit's sequence number
	source Source

	changes       []indexer.Change[T]
	before, after *indexer.Snapshot[T] // a relist; changes is then unused

	end  uint64      // events logged up to and with this segment; a relist counts as one
	next *segment[T] // guarded by hub.mu
}

// all yields the segment's changes. A relist's are found on the way, so that
// a large one is never held in memory as a list of events.
func (s *segment[T]) all() iter.Seq[indexer.Change[T]] {
	if s.after != nil {
		return indexer.Diff(s.before, s.after)
	}
	// The closure must not hold s: s leads to every later segment, and a
	// handler that blocks would keep them all (H6).
	changes := s.changes
	return func(yield func(indexer.Change[T]) bool) {
		for _, c := range changes {
			if !yield(c) {
				return
			}
		}
	}
}

// events counts the segment for the purpose of lag.
func (s *segment[T]) events() uint64 {
	if s.after != nil {
		return 1
	}
	return uint64(len(s.changes))
}
