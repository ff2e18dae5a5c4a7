package informer

import (
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Observed is an informer as it is seen from outside: by a monitor, that cares
// for its state and not for its T. Every *Informer[T] is one. The objects are
// the stored ones: reading is free, changing one is a bug.
type Observed interface {
	// Status describes the informer at this moment.
	Status() Status
	// Stored returns the stored object under a key.
	Stored(key object.Key) (object.Item[metav1.Object], bool)
	// StoredFrom yields the stored objects from a key on (the zero Key: all),
	// in the order of keys, as they were when the loop began.
	StoredFrom(key object.Key) iter.Seq[object.Item[metav1.Object]]
}

// Informers returns the informers that the factory has at this moment, by
// name, and those of one name in the order in which they were made. Each is there
// once, however many share it, until it is released by all. What is returned is no
// lease: it keeps none of them alive.
func (f *Factory) Informers() []Observed {
	f.mu.Lock()
	defer f.mu.Unlock()
	var informers []Observed
	for _, entry := range f.sorted() {
		informers = append(informers, entry.informer)
	}
	return informers
}

// Stored implements [Observed].
func (i *Informer[T]) Stored(key object.Key) (object.Item[metav1.Object], bool) {
	item, ok := i.store.Item(key)
	if !ok {
		return object.Item[metav1.Object]{}, false
	}
	return untyped(&item), true
}

// StoredFrom implements [Observed].
func (i *Informer[T]) StoredFrom(key object.Key) iter.Seq[object.Item[metav1.Object]] {
	return func(yield func(object.Item[metav1.Object]) bool) {
		for item := range i.store.Snapshot().ItemsFrom(key) {
			if !yield(untyped(item)) {
				return
			}
		}
	}
}

func untyped[T metav1.Object](item *object.Item[T]) object.Item[metav1.Object] {
	return object.Item[metav1.Object]{Key: item.Key, UID: item.UID, ResourceVersion: item.ResourceVersion, Object: item.Object}
}
