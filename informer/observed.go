package informer

import (
	"cmp"
	"iter"
	"slices"

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
// name, and those of one name in the order in which they were made.
func (f *Factory) Informers() []Observed {
	f.mu.Lock()
	entries := make([]*factoryEntry, 0, len(f.informers))
	for _, entry := range f.informers {
		entries = append(entries, entry)
	}
	f.mu.Unlock()
	slices.SortFunc(entries, func(a, b *factoryEntry) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.made, b.made))
	})
	informers := make([]Observed, 0, len(entries))
	for _, entry := range entries {
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
