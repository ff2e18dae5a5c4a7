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
	contents[T]
	keyFunc  object.KeyFunc[T]
	keys     *keyMap[T] // the store's present one: a hint, see entry
	indexes  []indexView[T]
	rv       string
	sequence uint64
}

// contents are the objects of a state. Each slot in order leads to an entry in
// table that is this slot's.
type contents[T metav1.Object] struct {
	order view[*slot[T]]
	table tableView[entry[T]]
}

type indexView[T metav1.Object] struct {
	id      uint32
	name    string
	fn      IndexFunc[T]
	answers string
	born    uint32
	left    int
	view    view[posting[T]]
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
	if e := s.entry(key); e != nil {
		return e.item, true
	}
	return object.Item[T]{}, false
}

// entry returns what the snapshot has under a key, or nil. Most keys are in the
// slot in which they are now. If not, it was deleted since, or stored again, or
// never there: the tree knows.
func (s *Snapshot[T]) entry(key object.Key) *entry[T] {
	if now := s.keys.find(key); now != nil {
		if e := s.table.get(now.slot.id); e != nil && e.slot == now.slot {
			return e
		}
	}
	var p path[*slot[T]]
	if s.order.find(probe[T](key), &p) {
		return s.table.get(p.key().id)
	}
	return nil
}

// List implements [Reader].
func (s *Snapshot[T]) List() []T {
	list := make([]T, 0, s.order.len)
	var p path[*slot[T]]
	stored := s.table.scan()
	for s.order.first(&p); p.valid(); p.skip(0) {
		for _, at := range p.rest() {
			list = append(list, stored.get(at.id).item.Object)
		}
	}
	return list
}

// ListKeys implements [Reader].
func (s *Snapshot[T]) ListKeys() []string {
	keys := make([]string, 0, s.order.len)
	for at := range s.order.all() {
		keys = append(keys, at.key.String())
	}
	return keys
}

// Len implements [Reader].
func (s *Snapshot[T]) Len() int { return s.order.len }

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
		objs, _ := resolve(s.table, x.view, vals[0], math.MaxInt)
		return objs, nil
	}
	var slots []*slot[T]
	for _, v := range vals {
		each(x.view, v, func(at *slot[T]) bool { slots = append(slots, at); return true })
	}
	slices.SortFunc(slots, (*slot[T]).Compare)
	slots = slices.Compact(slots)
	objs := make([]T, 0, len(slots))
	for _, at := range slots {
		objs = append(objs, s.table.get(at.id).item.Object)
	}
	return objs, nil
}

// ByIndex implements [Reader].
func (s *Snapshot[T]) ByIndex(name, value string) ([]T, error) {
	x, err := s.index(name)
	if err != nil {
		return nil, err
	}
	objs, _ := resolve(s.table, x.view, value, math.MaxInt)
	return objs, nil
}

// IndexKeys implements [Reader].
func (s *Snapshot[T]) IndexKeys(name, value string) ([]string, error) {
	x, err := s.index(name)
	if err != nil {
		return nil, err
	}
	var keys []string
	each(x.view, value, func(at *slot[T]) bool { keys = append(keys, at.key.String()); return true })
	return keys, nil
}

// ListIndexFuncValues implements [Reader].
func (s *Snapshot[T]) ListIndexFuncValues(name string) []string {
	x, err := s.index(name)
	if err != nil {
		return nil
	}
	var vals []string
	var p path[posting[T]]
	x.view.first(&p)
	for p.valid() {
		v := p.key().value
		vals = append(vals, v)
		// "\x00" behind it makes the least string that is greater.
		p.forward(posting[T]{value: v + "\x00"})
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
		var p path[*slot[T]]
		stored := s.table.scan()
		for s.order.first(&p); p.valid(); p.skip(0) {
			for _, at := range p.rest() {
				if !yield(&stored.get(at.id).item) {
					return
				}
			}
		}
	}
}

// ItemsFrom is [Snapshot.Items] from a key on, whether or not anything is
// stored under it. It reads nothing before.
func (s *Snapshot[T]) ItemsFrom(key object.Key) iter.Seq[*object.Item[T]] {
	return func(yield func(*object.Item[T]) bool) {
		var p path[*slot[T]]
		stored := s.table.scan()
		for s.order.seek(probe[T](key), &p); p.valid(); p.next() {
			if !yield(&stored.get(p.key().id).item) {
				return
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
		var p path[*slot[T]]
		stored := s.table.scan()
		for s.order.seek(probe[T](from), &p); p.valid(); p.next() {
			key := p.key().key
			if key.Namespace == namespace && strings.HasPrefix(key.Name, namePrefix) {
				if !yield(key, stored.get(p.key().id).item.Object) {
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

// each calls f for the slots under one value of an index, in key order, until it
// returns false.
func each[T metav1.Object](index view[posting[T]], val string, f func(*slot[T]) bool) {
	var p path[posting[T]]
	for index.seek(posting[T]{value: val}, &p); p.valid(); p.skip(0) {
		for _, it := range p.rest() {
			if it.value != val || !f(it.slot) {
				return
			}
		}
	}
}

// resolve returns the objects under one value of an index, or nothing and
// false if there are more than limit.
func resolve[T metav1.Object](table tableView[entry[T]], index view[posting[T]], val string, limit int) (objs []T, ok bool) {
	n := count(index, val, limit)
	if n > limit {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	objs = make([]T, 0, n)
	stored := table.scan()
	var p path[posting[T]]
	for index.seek(posting[T]{value: val}, &p); len(objs) < n; p.skip(0) {
		rest := p.rest()
		for _, it := range rest[:min(len(rest), n-len(objs))] {
			objs = append(objs, stored.get(it.slot.id).item.Object)
		}
	}
	return objs, true
}

// count returns how many slots are under one value of an index, or any number
// above limit if there are more.
func count[T metav1.Object](index view[posting[T]], val string, limit int) (n int) {
	var p path[posting[T]]
	for index.seek(posting[T]{value: val}, &p); p.valid() && n <= limit; p.skip(0) {
		rest := p.rest()
		if rest[len(rest)-1].value == val { // they are in order: so are all the others
			n += len(rest)
			continue
		}
		for i := 0; rest[i].value == val; i++ {
			n++
		}
		break
	}
	return n
}

// keyOf guards the key function against a nil pointer, which would make most
// of them panic.
func keyOf[T metav1.Object](f object.KeyFunc[T], obj T) (object.Key, error) {
	if isNil(obj) {
		return object.Key{}, &object.KeyError{Reason: "the object is nil"}
	}
	return f(obj)
}
