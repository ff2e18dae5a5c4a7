package informer

import (
	"iter"
	"slices"
	"time"

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
	reason        DeleteReason         // of the deletions in a relist

	at   time.Duration // when it was published, by the hub's clock
	end  uint64        // events logged up to and with this segment; a relist counts as one
	next *segment[T]   // guarded by hub.mu
}

// isList reports whether the segment is a list, to be told as a difference.
func (s *segment[T]) isList() bool { return s.after != nil }

// events counts the segment for the purpose of lag.
func (s *segment[T]) events() uint64 {
	if s.isList() {
		return 1
	}
	return uint64(len(s.changes))
}

// all yields what the segment tells.
func (s *segment[T]) all() iter.Seq[indexer.Change[T]] {
	if s.isList() {
		return because(s.reason, indexer.Diff(s.before, s.after))
	}
	return slices.Values(s.changes)
}

// because gives the deletions among changes a reason.
func because[T metav1.Object](reason DeleteReason, changes iter.Seq[indexer.Change[T]]) iter.Seq[indexer.Change[T]] {
	if reason == Gone {
		return changes
	}
	return func(yield func(indexer.Change[T]) bool) {
		for c := range changes {
			if c.Type == indexer.Deleted {
				c.Cause = uint8(reason)
			}
			if !yield(c) {
				return
			}
		}
	}
}
