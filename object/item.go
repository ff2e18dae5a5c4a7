package object

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Item is one object as it was received, beside what identifies it. UID and
// ResourceVersion are those of the wire: they stay true when a transform has
// stripped them from Object.
//
// An item that stands for a deletion has the deletion's ResourceVersion, and
// its Object is the last state known, which may be none (the zero T).
type Item[T metav1.Object] struct {
	Key             Key
	UID             types.UID
	ResourceVersion string
	Object          T
}

// NewItem reads an object's identity off the object itself. A nil keyFunc
// means [KeyOf].
func NewItem[T metav1.Object](obj T, keyFunc KeyFunc[T]) (Item[T], error) {
	if keyFunc == nil {
		keyFunc = KeyOf[T]
	}
	key, err := keyFunc(obj)
	if err != nil {
		return Item[T]{}, err
	}
	return Item[T]{Key: key, UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(), Object: obj}, nil
}

// SameVersion reports whether two items are the same version of the same
// object, so that nothing needs to be told. Items without a resourceVersion
// are known to be the same only when they share the object itself.
func (it Item[T]) SameVersion(other Item[T]) bool {
	if it.ResourceVersion == "" && other.ResourceVersion == "" {
		return it.UID == other.UID && shared(it.Object, other.Object)
	}
	return it.ResourceVersion != "" && it.ResourceVersion == other.ResourceVersion && it.UID == other.UID
}

// shared reports whether two objects are one. Only pointers can tell.
func shared[T metav1.Object](a, b T) bool {
	t := reflect.TypeOf(a)
	return t != nil && t.Kind() == reflect.Pointer && any(a) == any(b) && !reflect.ValueOf(a).IsNil()
}
