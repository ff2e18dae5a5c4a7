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
	if e := ix.current(k); e != nil {
		return e.item.Object, true, nil
	}
	var none T
	return none, false, nil
}

// Item implements [Reader].
func (ix *Indexer[T]) Item(key object.Key) (object.Item[T], bool) {
	if e := ix.current(key); e != nil {
		return e.item, true
	}
	return object.Item[T]{}, false
}

// current returns what is stored under a key, or nil. It takes no lock, and no
// snapshot, which would make the next write copy nodes for nothing.
//
// Half of a commit must not be seen (S2): what was found counts only if no
// commit was at work meanwhile. Most commits are over sooner than a lock is
// taken, so it tries a few times. Then the answer is that of the state before
// the commit if somebody has it, or of the state after.
func (ix *Indexer[T]) current(key object.Key) *entry[T] {
	const tries = 32
	for range tries {
		turn := ix.turn.Load()
		if turn%2 != 0 {
			continue
		}
		e := ix.keys.find(key)
		if ix.turn.Load() == turn {
			return e
		}
	}
	if s := ix.cached.Load(); s != nil {
		return s.entry(key)
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.keys.find(key)
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
	return ix.order.len
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
	return resolve(ix.table.tableView, x.tree.view, value, few)
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
