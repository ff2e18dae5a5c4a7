package naive

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/informer"
	"informer.example/object"
)

// State is what one complete list says exists. Once it is published it is
// never changed, so it is read without a lock.
type State[T metav1.Object] map[object.Key]object.Item[T]

// Change is one difference between two states. Old is the zero Item for an
// addition, New for a deletion.
type Change[T metav1.Object] struct {
	Type     informer.EventType
	Key      object.Key
	Old, New object.Item[T]
}

// Diff returns what must have happened between two states, in key order (N6).
// It changes neither of them, and costs what exists, not what changed: it looks
// at every object of both.
//
// A list names only what exists. So a deletion is found by what is missing from
// after (N1), which is why after must be the whole state: hand it half a list,
// and the other half is deleted.
func Diff[T metav1.Object](before, after State[T]) []Change[T] {
	var changes []Change[T]
	for key, was := range before {
		if _, still := after[key]; !still {
			changes = append(changes, Change[T]{Type: informer.Deleted, Key: key, Old: was}) // N1
		}
	}
	for key, is := range after {
		was, known := before[key]
		switch {
		case !known:
			changes = append(changes, Change[T]{Type: informer.Added, Key: key, New: is}) // N2
		case was.UID != is.UID:
			// N5: the name was given to another object. Whatever belonged to
			// the first one (its IP, its claims) must be let go of.
			changes = append(changes,
				Change[T]{Type: informer.Deleted, Key: key, Old: was},
				Change[T]{Type: informer.Added, Key: key, New: is})
		case !was.SameVersion(is):
			changes = append(changes, Change[T]{Type: informer.Updated, Key: key, Old: was, New: is}) // N4
		}
	}
	// Stable, so that the two changes of N5 keep their order.
	slices.SortStableFunc(changes, func(a, b Change[T]) int { return a.Key.Compare(b.Key) })
	return changes
}
