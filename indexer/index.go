package indexer

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// index is one secondary index. The upper fields are fixed; the lower ones are
// guarded by the store's mu.
type index[T metav1.Object] struct {
	id   uint32 // never used again, so values of a removed index are never taken for another's
	name string
	fn   IndexFunc[T]
	// answers is the condition of a selector that the index answers, if it was
	// made for one: see fieldAnswer and labelAnswer.
	answers string
	born    uint32 // generation of the first set that has it

	tree tree[posting[T]]
	// left counts the stored objects that the index lacks because its function
	// failed for them.
	left int
	// early holds the values of entries older than the index, which can't
	// remember them themselves. An entry that is replaced leaves it.
	early map[object.Key][]value
	// ready is false while the index is being built: writers keep it up to
	// date, readers don't see it.
	ready bool
}

// indexSet is the indexes in force. Immutable, apart from what index says; a
// change makes a new set with a higher generation.
type indexSet[T metav1.Object] struct {
	generation uint32
	list       []*index[T] // in order of id
}

func (s *indexSet[T]) with(add []*index[T], generation uint32) *indexSet[T] {
	for _, x := range add {
		x.born = generation
	}
	return &indexSet[T]{
		generation: generation,
		list:       slices.Concat(s.list, add),
	}
}

func (s *indexSet[T]) without(remove []*index[T], generation uint32) *indexSet[T] {
	list := slices.DeleteFunc(slices.Clone(s.list), func(x *index[T]) bool { return slices.Contains(remove, x) })
	return (&indexSet[T]{list: list}).with(nil, generation)
}

func (s *indexSet[T]) byName(name string) *index[T] {
	for _, x := range s.list {
		if x.name == name {
			return x
		}
	}
	return nil
}

// lastID is the highest id of an index in the set. Indexes added later have
// higher ones.
func (s *indexSet[T]) lastID() uint32 {
	if len(s.list) == 0 {
		return 0
	}
	return s.list[len(s.list)-1].id
}

// after returns the indexes whose ids are higher than id.
func (s *indexSet[T]) after(id uint32) []*index[T] {
	for i, x := range s.list {
		if x.id > id {
			return s.list[i:]
		}
	}
	return nil
}

// names of the indexes that readers see. Under mu.
func (s *indexSet[T]) names() []string {
	var names []string
	for _, x := range s.list {
		if x.ready {
			names = append(names, x.name)
		}
	}
	slices.Sort(names)
	return names
}

// appendValues asks the index functions in list about an item. User code:
// never under a lock.
func appendValues[T metav1.Object](list []*index[T], item *object.Item[T], dst []value, errs []*IndexError) ([]value, []*IndexError) {
	for _, x := range list {
		vals, err := callIndexFunc(x.fn, item.Object)
		if err != nil {
			errs = append(errs, &IndexError{Index: x.name, Key: item.Key, Err: err})
			dst = append(dst, value{index: x.id, failed: true})
			continue
		}
		from := len(dst)
		for _, v := range vals {
			dst = append(dst, value{index: x.id, value: v})
		}
		if mine := dst[from:]; len(mine) > 1 {
			slices.SortFunc(mine, func(a, b value) int { return cmp.Compare(a.value, b.value) })
			dst = dst[:from+len(slices.Compact(mine))]
		}
	}
	return dst, errs
}

// callIndexFunc turns a panic into an error.
func callIndexFunc[T metav1.Object](fn IndexFunc[T], obj T) (vals []string, err error) {
	if fn == nil {
		return nil, errNilFunc
	}
	defer func() {
		if r := recover(); r != nil {
			vals, err = nil, &PanicError{Value: r}
		}
	}()
	return fn(obj)
}

// remembered returns under which values the index holds an entry.
func (x *index[T]) remembered(e *entry[T]) []value {
	switch {
	case e == nil:
		return nil
	case e.generation >= x.born:
		return of(e.vals, x.id)
	default:
		return x.early[e.item.Key]
	}
}

// move makes the index hold one slot under other values than before. Both lists
// are in order.
func (x *index[T]) move(s *slot[T], before, after []value) {
	if failed(before) {
		x.left--
		before = nil
	}
	if failed(after) {
		x.left++
		after = nil
	}
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].value < after[0].value:
			x.tree.remove(posting[T]{before[0].value, s})
			before = before[1:]
		case len(before) == 0 || before[0].value > after[0].value:
			x.put(after[0].value, s)
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
}

// put makes the index hold a slot under a value. Neighbours share the bytes of
// the value, so that comparing it with theirs ends at the pointer.
func (x *index[T]) put(val string, s *slot[T]) {
	var p path[posting[T]]
	if x.tree.find(posting[T]{val, s}, &p) {
		return
	}
	if p.depth > 0 {
		keys, at := p.node[p.depth-1].keys, p.at[p.depth-1]
		switch {
		case at > 0 && keys[at-1].value == val:
			val = keys[at-1].value
		case at < len(keys) && keys[at].value == val:
			val = keys[at].value
		}
	}
	x.tree.insertAt(&p, posting[T]{val, s})
}

// reindex follows the replacement of one entry of a slot by another, nil
// standing for none. Under mu.
func (ix *Indexer[T]) reindex(before, after *entry[T]) {
	if before != nil && after != nil && before.sharesValues(after) {
		return
	}
	s := cmp.Or(before, after).slot
	for _, x := range ix.set.Load().list {
		x.move(s, x.remembered(before), x.remembered(after))
		if x.early != nil && before != nil && before.generation < x.born {
			delete(x.early, s.key)
			if len(x.early) == 0 && x.ready {
				x.early = nil
			}
		}
	}
}

// index puts entries into indexes that hold nothing. In order, they fill the
// trees' leaves, which costs less time and less memory than one by one. Under mu.
func (ix *Indexer[T]) index(entries []*entry[T]) {
	var all []posting[T]
	for _, x := range ix.set.Load().list {
		all = all[:0]
		for _, e := range entries {
			for _, v := range of(e.vals, x.id) {
				if v.failed {
					x.left++
					continue
				}
				all = append(all, posting[T]{v.value, e.slot})
			}
		}
		slices.SortFunc(all, posting[T].Compare)
		for _, p := range all {
			x.put(p.value, p.slot)
		}
	}
}
