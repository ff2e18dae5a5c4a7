package indexer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// ReplaceItems makes items the whole state, in one commit (S2), and returns
// the snapshots on both sides of it: their [Diff] is what has changed. They
// are the same snapshot if nothing has, rv included.
//
// An item whose version is stored already leaves the stored object where it
// is, and no index function is asked about it. Of several items with one key
// the newest counts, or the last one if they can't be compared. Keys in keep
// stay as they are, whether they are among items or not: for objects that are
// known to exist, in a version that could not be read. rv "" keeps the store's
// resourceVersion. The slices are not changed, nor kept.
func (ix *Indexer[T]) ReplaceItems(items []object.Item[T], keep []object.Key, rv string) (before, after *Snapshot[T], errs []*IndexError) {
	return ix.replace(newReplacement(items, keep), rv)
}

// ReplaceNamespace is [Indexer.ReplaceItems] for the objects whose key has the
// namespace: all others stay as they are, and an item of another namespace is
// left out. So several lists, one for each namespace, can share a store. It
// costs what the namespace holds, not what is stored (with "", the cluster-scoped
// objects, it reads the store).
func (ix *Indexer[T]) ReplaceNamespace(namespace string, items []object.Item[T], keep []object.Key, rv string) (before, after *Snapshot[T], errs []*IndexError) {
	foreign := func(item object.Item[T]) bool { return item.Key.Namespace != namespace }
	if slices.ContainsFunc(items, foreign) {
		items = slices.DeleteFunc(slices.Clone(items), foreign)
	}
	r := newReplacement(items, keep)
	r.within = &namespace
	return ix.replace(r, rv)
}

func (ix *Indexer[T]) replace(r *replacement[T], rv string) (before, after *Snapshot[T], errs []*IndexError) {
	for {
		set := ix.set.Load()
		before = ix.Snapshot()
		r.plan(before.contents)
		r.compute(set)
		if after, ok := ix.tryReplace(r, &before, rv); ok {
			return before, after, r.errors()
		}
	}
}

// tryReplace fails if the plan needs values that have not been computed, or the
// indexes are others by now. What is computed stays, so there is an end to it
// however busy other writers are.
func (ix *Indexer[T]) tryReplace(r *replacement[T], before **Snapshot[T], rv string) (after *Snapshot[T], ok bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.set.Load() != r.set {
		return nil, false
	}
	if ix.sequence != (*before).sequence { // another writer came in between
		r.plan(contents[T]{ix.order.view, ix.table.tableView})
		if slices.ContainsFunc(r.sets, func(i int) bool { return r.vals == nil || r.vals[i] == nil }) {
			return nil, false
		}
	}
	// Readers use this snapshot until finish drops it, so they don't wait.
	*before = ix.snapshotLocked()
	ix.turn.Add(1)
	for _, key := range r.deletes {
		old := ix.keys.find(key)
		ix.reindex(old, nil)
		ix.remove(old)
	}
	isFirst := ix.order.len == 0
	var first []*entry[T]
	if isFirst {
		first = make([]*entry[T], 0, len(r.sets))
		ix.keys.reserve(len(r.sets))
	}
	for _, i := range r.sets {
		item := &r.items[i]
		old := ix.keys.find(item.Key)
		e := ix.put(old, item, r.vals[i], r.set.generation)
		if isFirst {
			first = append(first, e)
		} else {
			ix.reindex(old, e)
		}
	}
	ix.index(first)
	ix.finish(len(r.deletes)+len(r.sets) > 0, rv)
	ix.turn.Add(1)
	return ix.snapshotLocked(), true
}

// replacement is a ReplaceItems at work.
type replacement[T metav1.Object] struct {
	items []object.Item[T] // in key order, no key twice
	keep  []object.Key     // in order
	// within is the namespace that is replaced, or nil for the whole store. No
	// item is of another one.
	within *string

	// What plan found: which items to store, which keys to delete.
	sets    []int
	deletes []object.Key

	// What compute found, for the items that a plan wanted so far.
	set   *indexSet[T]
	asked uint32    // the highest id of an index that was asked
	vals  [][]value // by item; nil: not asked, as opposed to empty
	errs  map[int][]*IndexError
}

func newReplacement[T metav1.Object](items []object.Item[T], keep []object.Key) *replacement[T] {
	return &replacement[T]{items: inOrder(items), keep: slices.SortedFunc(slices.Values(keep), object.Key.Compare)}
}

// inOrder sorts items by key, and leaves one of each. A server's list is in
// order already.
func inOrder[T metav1.Object](items []object.Item[T]) []object.Item[T] {
	ordered := true
	for i := 1; i < len(items) && ordered; i++ {
		ordered = items[i-1].Key.Compare(items[i].Key) < 0
	}
	if ordered {
		return items
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b object.Item[T]) int { return a.Key.Compare(b.Key) })
	n := 0
	for _, item := range items {
		switch {
		case n == 0 || items[n-1].Key != item.Key:
			items[n] = item
			n++
		case !object.Newer(items[n-1].ResourceVersion, item.ResourceVersion):
			items[n-1] = item
		}
	}
	return items[:n]
}

// plan compares items with a state.
func (r *replacement[T]) plan(c contents[T]) {
	r.sets, r.deletes = r.sets[:0], r.deletes[:0]
	keep := r.keep
	kept := func(key object.Key) bool { // asked in key order
		for len(keep) > 0 && keep[0].Compare(key) < 0 {
			keep = keep[1:]
		}
		return len(keep) > 0 && keep[0] == key
	}
	var p path[*slot[T]]
	stored := c.table.scan()
	r.first(c, &p)
	for i := 0; i < len(r.items) || p.valid(); {
		c := -1
		switch {
		case i == len(r.items):
			c = 1
		case p.valid():
			c = r.items[i].Key.Compare(p.key().key)
		}
		switch {
		case c > 0: // stored, not in the list
			if key := p.key().key; !kept(key) {
				r.deletes = append(r.deletes, key)
			}
			r.next(&p)
		case c < 0: // not stored yet
			if !kept(r.items[i].Key) {
				r.sets = append(r.sets, i)
			}
			i++
		default:
			if item := &r.items[i]; !item.SameVersion(stored.get(p.key().id).item) && !kept(item.Key) {
				r.sets = append(r.sets, i)
			}
			r.next(&p)
			i++
		}
	}
}

// first and next lead a path through the stored keys that are to be replaced.
func (r *replacement[T]) first(c contents[T], p *path[*slot[T]]) {
	if r.within == nil {
		c.order.first(p)
		return
	}
	c.order.seek(probe[T](object.Key{Namespace: *r.within}), p)
	r.settle(p)
}

func (r *replacement[T]) next(p *path[*slot[T]]) {
	p.next()
	if r.within != nil {
		r.settle(p)
	}
}

// settle goes on to the next key of the namespace. Its keys are neighbours,
// except that cluster-scoped objects may stand between them (see Prefix).
func (r *replacement[T]) settle(p *path[*slot[T]]) {
	prefix := object.Key{Namespace: *r.within}.String()
	for ; p.valid(); p.next() {
		key := p.key().key
		if key.Namespace == *r.within {
			return
		}
		if !strings.HasPrefix(key.String(), prefix) {
			break
		}
	}
	*p = path[*slot[T]]{}
}

// compute asks the index functions about the items to store: each function
// once about each item, however often the set of indexes changes meanwhile.
// User code: never under a lock.
func (r *replacement[T]) compute(set *indexSet[T]) {
	if r.vals == nil && len(r.sets) > 0 {
		r.vals = make([][]value, len(r.items))
	}
	if r.set != set {
		fresh := set.after(r.asked)
		for i, vals := range r.vals {
			if vals != nil {
				r.ask(i, set, fresh, slices.Clone(vals))
			}
		}
		r.set, r.asked = set, max(r.asked, set.lastID())
	}
	var scratch []value
	for _, i := range r.sets {
		if r.vals[i] == nil {
			scratch = r.ask(i, set, set.list, scratch[:0])
		}
	}
}

var noValues = []value{}

// ask adds what the indexes say of item i to the values in scratch.
func (r *replacement[T]) ask(i int, set *indexSet[T], list []*index[T], scratch []value) []value {
	vals, errs := appendValues(list, &r.items[i], scratch, nil)
	if errs != nil {
		if r.errs == nil {
			r.errs = map[int][]*IndexError{}
		}
		r.errs[i] = append(r.errs[i], errs...)
	}
	if r.vals[i] = noValues; len(vals) > 0 {
		r.vals[i] = slices.Clone(vals)
	}
	return vals
}

// errors of the items stored.
func (r *replacement[T]) errors() []*IndexError {
	var errs []*IndexError
	if r.errs != nil {
		for _, i := range r.sets {
			errs = append(errs, r.errs[i]...)
		}
	}
	return errs
}
