package indexer

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// entry is one stored version of an object. Immutable; the primary tree leads
// from the key to it.
type entry[T metav1.Object] struct {
	item object.Item[T]
	vals *values // never nil
}

// values are what the index functions said of an object when it was stored.
// They are remembered, so that an object can be taken out of the indexes
// without asking again (S5): by then the object or the function may say
// something else. Immutable; shared by an object's versions as long as they
// stay the same.
type values struct {
	generation uint64  // of the index set that was asked
	list       []value // ordered by index, then value; no value twice
	one        [1]value
}

type value struct {
	index uint64
	value string
}

// newValues copies list.
func newValues(generation uint64, list []value) *values {
	v := &values{generation: generation}
	if len(list) == 1 { // one allocation less in the commonest case
		v.one[0] = list[0]
		v.list = v.one[:]
	} else {
		v.list = slices.Clone(list)
	}
	return v
}

// of returns the values in one index.
func (v *values) of(index uint64) []value {
	lo := 0
	for lo < len(v.list) && v.list[lo].index < index {
		lo++
	}
	hi := lo
	for hi < len(v.list) && v.list[hi].index == index {
		hi++
	}
	return v.list[lo:hi]
}

// posting is one entry of an index tree: key's object has the value. It leads
// to the object by its key, not by a pointer. So an update that leaves an
// object's index values as they were, which most updates do, touches no index
// tree; in return, a query looks each of its results up in the primary tree.
type posting struct {
	value string
	key   object.Key
}

func (p posting) Compare(other posting) int {
	if c := cmp.Compare(p.value, other.value); c != 0 {
		return c
	}
	return p.key.Compare(other.key)
}

// recreated reports whether two items under one key are different objects: one
// was deleted, then one of the same name was created.
func recreated[T metav1.Object](a, b *object.Item[T]) bool {
	return a.UID != b.UID && a.UID != "" && b.UID != ""
}
