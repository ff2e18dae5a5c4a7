package indexer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// slot is the place of one key in the store, from when it is stored until it
// is deleted. Immutable. All the store's parts meet in it:
//
//	tree     slots in key order                 lists, ranges
//	tree     (value, slot) in order             an index
//	table    slot.id ─▶ entry, immutable        what a snapshot sees under the key
//	keyMap   key ─▶ entry ─▶ slot               what is there at present, no lock
//
// So the update of an object touches no tree: its slot stays, and only what the
// slot leads to is another entry. A key that is deleted and stored again gets a
// new slot. The id may then be another key's; an entry says whose it is.
type slot[T metav1.Object] struct {
	key object.Key
	id  uint32
}

// probe is a slot that is not the store's, to look for a place in a tree with.
func probe[T metav1.Object](key object.Key) *slot[T] { return &slot[T]{key: key} }

// Compare orders slots by key, and so a slot that was deleted and the one that
// followed it under the same key are equal.
func (s *slot[T]) Compare(other *slot[T]) int {
	if s == other {
		return 0
	}
	return s.key.Compare(other.key)
}
