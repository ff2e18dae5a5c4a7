package indexer

import (
	"slices"

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
	r := newReplacement(items, keep)
	for {
		set := ix.set.Load()
		before = ix.Snapshot()
		r.plan(before.primary)
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
		r.plan(ix.primary.view)
		if slices.ContainsFunc(r.sets, func(i int) bool { return r.vals == nil || r.vals[i] == nil }) {
			return nil, false
		}
	}
	// Readers use this snapshot until finish drops it, so they don't wait.
	*before = ix.snapshotLocked()
	for _, key := range r.deletes {
		var p path[object.Key, *entry[T]]
		ix.primary.find(key, &p)
		old := p.val()
		ix.primary.deleteAt(&p)
		ix.reindex(old, nil)
	}
	for _, i := range r.sets {
		item := &r.items[i]
		var p path[object.Key, *entry[T]]
		var old *entry[T]
		if ix.primary.find(item.Key, &p) {
			old = p.val()
		}
		ix.putAt(&p, item, old, r.vals[i])
	}
	ix.finish(len(r.deletes)+len(r.sets) > 0, rv)
	return ix.snapshotLocked(), true
}

// replacement is a ReplaceItems at work.
type replacement[T metav1.Object] struct {
	items []object.Item[T] // in key order, no key twice
	keep  []object.Key     // in order

	// What plan found: which items to store, which keys to delete.
	sets    []int
	deletes []object.Key

	// What compute found, for the items that a plan wanted so far.
	set   *indexSet[T]
	asked uint64    // the highest id of an index that was asked
	vals  []*values // by item
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
func (r *replacement[T]) plan(v view[object.Key, *entry[T]]) {
	r.sets, r.deletes = r.sets[:0], r.deletes[:0]
	keep := r.keep
	kept := func(key object.Key) bool { // asked in key order
		for len(keep) > 0 && keep[0].Compare(key) < 0 {
			keep = keep[1:]
		}
		return len(keep) > 0 && keep[0] == key
	}
	var p path[object.Key, *entry[T]]
	v.first(&p)
	for i := 0; i < len(r.items) || p.valid(); {
		c := -1
		switch {
		case i == len(r.items):
			c = 1
		case p.valid():
			c = r.items[i].Key.Compare(p.key())
		}
		switch {
		case c > 0: // stored, not in the list
			if key := p.key(); !kept(key) {
				r.deletes = append(r.deletes, key)
			}
			p.next()
		case c < 0: // not stored yet
			if !kept(r.items[i].Key) {
				r.sets = append(r.sets, i)
			}
			i++
		default:
			if item := &r.items[i]; !item.SameVersion(p.val().item) && !kept(item.Key) {
				r.sets = append(r.sets, i)
			}
			p.next()
			i++
		}
	}
}

// compute asks the index functions about the items to store: each function
// once about each item, however often the set of indexes changes meanwhile.
// User code: never under a lock.
func (r *replacement[T]) compute(set *indexSet[T]) {
	if r.vals == nil && len(r.sets) > 0 {
		r.vals = make([]*values, len(r.items))
	}
	if r.set != set {
		fresh := set.after(r.asked)
		for i, vals := range r.vals {
			if vals != nil {
				r.ask(i, set, fresh, slices.Clone(vals.list))
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

// ask adds what the indexes say of item i to the values in scratch.
func (r *replacement[T]) ask(i int, set *indexSet[T], list []*index[T], scratch []value) []value {
	vals, errs := appendValues(list, &r.items[i], scratch, nil)
	if errs != nil {
		if r.errs == nil {
			r.errs = map[int][]*IndexError{}
		}
		r.errs[i] = append(r.errs[i], errs...)
	}
	if r.vals[i] = set.none; len(vals) > 0 {
		r.vals[i] = newValues(set.generation, vals)
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
