package indexer

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Get implements [Reader].
func (ix *Indexer[T]) Get(obj T) (T, bool, error) {
	key, err := keyOf(ix.keyFunc, obj)
	if err != nil {
		var none T
		return none, false, err
	}
	item, ok := ix.Item(key)
	return item.Object, ok, nil
}

// GetByKey implements [Reader].
func (ix *Indexer[T]) GetByKey(key string) (T, bool, error) {
	k, err := object.ParseKey(key)
	if err != nil {
		var none T
		return none, false, err
	}
	item, ok := ix.Item(k)
	return item.Object, ok, nil
}

// Item implements [Reader].
func (ix *Indexer[T]) Item(key object.Key) (object.Item[T], bool) {
	// A single lookup takes no snapshot of its own: that would make the next
	// write copy nodes, for nothing.
	if s := ix.cached.Load(); s != nil {
		return s.Item(key)
	}
	ix.mu.RLock()
	e, ok := ix.primary.get(key)
	ix.mu.RUnlock()
	if !ok {
		return object.Item[T]{}, false
	}
	return e.item, true
}

// List implements [Reader].
func (ix *Indexer[T]) List() []T { return ix.Snapshot().List() }

// ListKeys implements [Reader].
func (ix *Indexer[T]) ListKeys() []string { return ix.Snapshot().ListKeys() }

// Len implements [Reader].
func (ix *Indexer[T]) Len() int {
	if s := ix.cached.Load(); s != nil {
		return s.Len()
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.primary.len
}

// Index implements [Reader].
func (ix *Indexer[T]) Index(name string, obj T) ([]T, error) { return ix.Snapshot().Index(name, obj) }

// ByIndex implements [Reader].
func (ix *Indexer[T]) ByIndex(name, value string) ([]T, error) {
	if ix.cached.Load() == nil {
		if objs, ok := ix.few(name, value); ok {
			return objs, nil
		}
	}
	return ix.Snapshot().ByIndex(name, value)
}

// few answers a query that has few results, as most do, without a snapshot:
// see Item.
func (ix *Indexer[T]) few(name, value string) ([]T, bool) {
	const few = 16
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	x := ix.set.Load().byName(name)
	if x == nil || !x.ready {
		return nil, false
	}
	return resolve(ix.primary.view, x.tree.view, value, few)
}

// IndexKeys implements [Reader].
func (ix *Indexer[T]) IndexKeys(name, value string) ([]string, error) {
	return ix.Snapshot().IndexKeys(name, value)
}

// ListIndexFuncValues implements [Reader].
func (ix *Indexer[T]) ListIndexFuncValues(name string) []string {
	return ix.Snapshot().ListIndexFuncValues(name)
}

// ResourceVersion implements [Reader].
func (ix *Indexer[T]) ResourceVersion() string {
	if s := ix.cached.Load(); s != nil {
		return s.rv
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.rv
}

// Sequence is the number of the last commit; see [Snapshot.Sequence].
func (ix *Indexer[T]) Sequence() uint64 {
	if s := ix.cached.Load(); s != nil {
		return s.sequence
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.sequence
}

// isNil reports whether obj is a nil interface or a nil pointer.
func isNil[T metav1.Object](obj T) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
