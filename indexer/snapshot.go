package indexer

import (
	"iter"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Snapshot is one state of a store (S1): it never changes, needs no lock, and
// all its answers agree with each other. Holding it keeps the objects of that
// state in memory, beyond those only what the store has not changed since is
// shared with it.
type Snapshot[T metav1.Object] struct {
	keyFunc  object.KeyFunc[T]
	primary  view[object.Key, *entry[T]]
	indexes  []indexView[T]
	rv       string
	sequence uint64
}

type indexView[T metav1.Object] struct {
	name string
	fn   IndexFunc[T]
	view view[posting, struct{}]
}

var _ Reader[metav1.Object] = (*Snapshot[metav1.Object])(nil)

// Get implements [Reader].
func (s *Snapshot[T]) Get(obj T) (T, bool, error) {
	key, err := keyOf(s.keyFunc, obj)
	if err != nil {
		var none T
		return none, false, err
	}
	item, ok := s.Item(key)
	return item.Object, ok, nil
}

// GetByKey implements [Reader].
func (s *Snapshot[T]) GetByKey(key string) (T, bool, error) {
	k, err := object.ParseKey(key)
	if err != nil {
		var none T
		return none, false, err
	}
	item, ok := s.Item(k)
	return item.Object, ok, nil
}

// Item implements [Reader].
func (s *Snapshot[T]) Item(key object.Key) (object.Item[T], bool) {
	e, ok := s.primary.get(key)
	if !ok {
		return object.Item[T]{}, false
	}
	return e.item, true
}

// List implements [Reader].
func (s *Snapshot[T]) List() []T {
	list := make([]T, 0, s.primary.len)
	var p path[object.Key, *entry[T]]
	for s.primary.first(&p); p.valid(); p.skip(0) {
		for _, it := range p.rest() {
			list = append(list, it.val.item.Object)
		}
	}
	return list
}

// ListKeys implements [Reader].
func (s *Snapshot[T]) ListKeys() []string {
	keys := make([]string, 0, s.primary.len)
	for k := range s.primary.all() {
		keys = append(keys, k.String())
	}
	return keys
}

// Len implements [Reader].
func (s *Snapshot[T]) Len() int { return s.primary.len }

// Index implements [Reader].
func (s *Snapshot[T]) Index(name string, obj T) ([]T, error) {
	x, err := s.index(name)
	if err != nil {
		return nil, err
	}
	vals, err := callIndexFunc(x.fn, obj)
	if err != nil {
		key, _ := keyOf(s.keyFunc, obj)
		return nil, &IndexError{Index: name, Key: key, Err: err}
	}
	if len(vals) == 1 {
		objs, _ := resolve(s.primary, x.view, vals[0], math.MaxInt)
		return objs, nil
	}
	var keys []object.Key
	for _, v := range vals {
		each(x.view, v, func(key object.Key) bool { keys = append(keys, key); return true })
	}
	slices.SortFunc(keys, object.Key.Compare)
	keys = slices.Compact(keys)
	objs := make([]T, 0, len(keys))
	for _, key := range keys {
		if e, ok := s.primary.get(key); ok {
			objs = append(objs, e.item.Object)
		}
	}
	return objs, nil
}

// ByIndex implements [Reader].
func (s *Snapshot[T]) ByIndex(name, value string) ([]T, error) {
	x, err := s.index(name)
	if err != nil {
		return nil, err
	}
	objs, _ := resolve(s.primary, x.view, value, math.MaxInt)
	return objs, nil
}

// IndexKeys implements [Reader].
func (s *Snapshot[T]) IndexKeys(name, value string) ([]string, error) {
	x, err := s.index(name)
	if err != nil {
		return nil, err
	}
	var keys []string
	each(x.view, value, func(key object.Key) bool { keys = append(keys, key.String()); return true })
	return keys, nil
}

// ListIndexFuncValues implements [Reader].
func (s *Snapshot[T]) ListIndexFuncValues(name string) []string {
	x, err := s.index(name)
	if err != nil {
		return nil
	}
	var vals []string
	var p path[posting, struct{}]
	x.view.first(&p)
	for p.valid() {
		v := p.key().value
		vals = append(vals, v)
		// "\x00" behind it makes the least string that is greater.
		p.forward(posting{value: v + "\x00"})
	}
	return vals
}

// ResourceVersion implements [Reader].
func (s *Snapshot[T]) ResourceVersion() string { return s.rv }

// Sequence is the number of the commit that made this state, 0 for a store
// that nothing was committed to. Of two snapshots of one store, the one with
// the higher number is the newer.
func (s *Snapshot[T]) Sequence() uint64 { return s.sequence }

// All yields every object.
func (s *Snapshot[T]) All() iter.Seq2[object.Key, T] {
	return func(yield func(object.Key, T) bool) {
		for item := range s.Items() {
			if !yield(item.Key, item.Object) {
				return
			}
		}
	}
}

// Items yields every object with its UID and resourceVersion. The items are
// the store's and must not be changed.
func (s *Snapshot[T]) Items() iter.Seq[*object.Item[T]] {
	return func(yield func(*object.Item[T]) bool) {
		var p path[object.Key, *entry[T]]
		for s.primary.first(&p); p.valid(); p.skip(0) {
			for _, it := range p.rest() {
				if !yield(&it.val.item) {
					return
				}
			}
		}
	}
}

// Namespace yields the objects of one namespace; with "", the cluster-scoped
// ones. It costs what it yields, not what is stored.
func (s *Snapshot[T]) Namespace(namespace string) iter.Seq2[object.Key, T] {
	return s.Prefix(namespace, "")
}

// Prefix yields the objects of one namespace whose names begin with
// namePrefix.
func (s *Snapshot[T]) Prefix(namespace, namePrefix string) iter.Seq2[object.Key, T] {
	return func(yield func(object.Key, T) bool) {
		from := object.Key{Namespace: namespace, Name: namePrefix}
		var p path[object.Key, *entry[T]]
		for s.primary.seek(from, &p); p.valid(); p.next() {
			key := p.key()
			if key.Namespace == namespace && strings.HasPrefix(key.Name, namePrefix) {
				if !yield(key, p.val().item.Object) {
					return
				}
				continue
			}
			// Keys are ordered by their string, so those of one namespace are
			// neighbours, except that cluster-scoped and namespaced objects in
			// one store, or slashes in names, may put others between them.
			if !strings.HasPrefix(key.String(), from.String()) {
				return
			}
		}
	}
}

func (s *Snapshot[T]) index(name string) (*indexView[T], error) {
	for i := range s.indexes {
		if s.indexes[i].name == name {
			return &s.indexes[i], nil
		}
	}
	known := make([]string, 0, len(s.indexes))
	for i := range s.indexes {
		known = append(known, s.indexes[i].name)
	}
	slices.Sort(known)
	return nil, &UnknownIndexError{Name: name, Known: known}
}

// each calls f for the keys under one value of an index, in order, until it
// returns false.
func each(index view[posting, struct{}], val string, f func(object.Key) bool) {
	var p path[posting, struct{}]
	for index.seek(posting{value: val}, &p); p.valid(); p.skip(0) {
		for _, it := range p.rest() {
			if it.key.value != val || !f(it.key.key) {
				return
			}
		}
	}
}

// resolve returns the objects under one value of an index, or nothing and
// false if there are more than limit.
func resolve[T metav1.Object](primary view[object.Key, *entry[T]], index view[posting, struct{}], val string, limit int) (objs []T, ok bool) {
	ok = true
	var p path[object.Key, *entry[T]]
	each(index, val, func(key object.Key) bool {
		if len(objs) == limit {
			objs, ok = nil, false
			return false
		}
		if objs == nil {
			primary.seek(key, &p)
		} else {
			p.forward(key) // keys under one value are in order
		}
		objs = append(objs, p.val().item.Object)
		return true
	})
	return objs, ok
}

// keyOf guards the key function against a nil pointer, which would make most
// of them panic.
func keyOf[T metav1.Object](f object.KeyFunc[T], obj T) (object.Key, error) {
	if isNil(obj) {
		return object.Key{}, &object.KeyError{Reason: "the object is nil"}
	}
	return f(obj)
}
