package indexer

import (
	"fmt"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// ChangeType says what happened to an object.
type ChangeType uint8

const (
	Added ChangeType = iota + 1
	Updated
	Deleted
)

func (t ChangeType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	}
	return fmt.Sprintf("ChangeType(%d)", uint8(t))
}

// Change is one difference between two states of a store. The items are the
// store's: immutable, and never to be changed.
type Change[T metav1.Object] struct {
	Type ChangeType
	// Cause is what [Batch.DeleteBecause] was given, 0 otherwise.
	Cause uint8
	Old   *object.Item[T] // nil when Added
	New   *object.Item[T] // nil when Deleted
	// Final is the last state, which came with the deletion; nil when it is
	// not known. Old is then the last state that the store has seen, which may
	// be some versions behind.
	Final *object.Item[T]
}

// Key of the object.
func (c Change[T]) Key() object.Key {
	if c.New != nil {
		return c.New.Key
	}
	return c.Old.Key
}

// Diff yields what happened between two snapshots of one store, in key order
// (S8): what to do to old to get new. A nil snapshot is an empty one.
//
// The same UID and resourceVersion is no change. Another UID is two, Deleted
// and Added: the object was deleted, and another one of its name created. What
// came and went in between is not seen, and Final is never known.
//
// It costs what has changed, not what is stored: parts that both snapshots
// share are skipped unread.
func Diff[T metav1.Object](old, new *Snapshot[T]) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		var a, b contents[T]
		if old != nil {
			a = old.contents
		}
		if new != nil {
			b = new.contents
		}
		differences(a, b, func(before, after *entry[T]) bool {
			if before != nil && after != nil && before.item.SameVersion(after.item) {
				return true
			}
			var buf [2]Change[T]
			for _, c := range appendChanges(buf[:0], before, after) {
				if !yield(c) {
					return false
				}
			}
			return true
		})
	}
}

// appendChanges says what the replacement of one entry by another is; nil
// stands for none.
func appendChanges[T metav1.Object](to []Change[T], before, after *entry[T]) []Change[T] {
	switch {
	case before == nil:
		return append(to, Change[T]{Type: Added, New: &after.item})
	case after == nil:
		return append(to, Change[T]{Type: Deleted, Old: &before.item})
	case recreated(&before.item, &after.item):
		return append(to, Change[T]{Type: Deleted, Old: &before.item}, Change[T]{Type: Added, New: &after.item})
	default:
		return append(to, Change[T]{Type: Updated, Old: &before.item, New: &after.item})
	}
}
