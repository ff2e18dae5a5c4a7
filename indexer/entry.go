package indexer

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// entry is one stored version of an object. Immutable.
type entry[T metav1.Object] struct {
	item object.Item[T]
	slot *slot[T]
	// vals are what the index functions said of the object when it was stored.
	// They are remembered, so that it can be taken out of the indexes without
	// asking again (S5): by then the object or the function may say something
	// else. In order of index, then value; no value twice. Shared by an
	// object's versions as long as they stay the same.
	vals []value
	// generation of the index set that was asked.
	generation uint32
	hash       uint32 // of the key
}

// sharesValues reports whether two entries have one list of values, and so the
// same.
func (e *entry[T]) sharesValues(other *entry[T]) bool {
	return e.generation == other.generation && len(e.vals) == len(other.vals) &&
		(len(e.vals) == 0 || &e.vals[0] == &other.vals[0])
}

type value struct {
	index uint32
	// failed stands alone in the place of the values: the index function failed,
	// and the index lacks the object.
	failed bool
	value  string
}

// failed reports whether values of one index say that its function failed.
func failed(list []value) bool { return len(list) == 1 && list[0].failed }

// of returns those of the values that are in one index.
func of(list []value, index uint32) []value {
	lo := 0
	for lo < len(list) && list[lo].index < index {
		lo++
	}
	hi := lo
	for hi < len(list) && list[hi].index == index {
		hi++
	}
	return list[lo:hi]
}

// posting is one entry of an index tree: the slot's object has the value. It
// leads to the slot, not to the entry. So an update that leaves an object's
// index values as they were, which most updates do, touches no index tree.
type posting[T metav1.Object] struct {
	value string
	slot  *slot[T] // nil comes before all others
}

func (p posting[T]) Compare(other posting[T]) int {
	if c := cmp.Compare(p.value, other.value); c != 0 {
		return c
	}
	switch {
	case p.slot == other.slot:
		return 0
	case p.slot == nil:
		return -1
	case other.slot == nil:
		return 1
	}
	return p.slot.Compare(other.slot)
}

// recreated reports whether two items under one key are different objects: one
// was deleted, then one of the same name was created.
func recreated[T metav1.Object](a, b *object.Item[T]) bool {
	return a.UID != b.UID && a.UID != "" && b.UID != ""
}
