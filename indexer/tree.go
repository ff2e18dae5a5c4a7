package indexer

import "iter"

// The tree is a B+ tree: every item is in a leaf, all leaves are equally deep,
// and inner nodes only say the way. Wide nodes keep neighbours together in
// memory, so that an ordered scan costs a few nanoseconds an item.
//
// It comes in two faces:
//
//	tree   what the one writer holds; may change
//	view   what readers hold; never changes
//
// snapshot turns the first into the second in O(1). Each node carries the
// epoch of the tree in which it was made, and snapshot begins a new epoch: a
// node of an older epoch may be seen by a view, so the writer copies it before
// changing it, once; a node of the present epoch is the writer's alone, and is
// changed in place.
//
// Everything else in this package goes through these methods only, so that
// another ordered structure can take the tree's place:
//
//	view   get, find, seek, first, all, len; diff (a function)
//	path   valid, key, val, next, rest, skip, forward
//	tree   snapshot, replaceAt, insertAt, deleteAt, put, remove

const (
	maxItems = 32           // of a leaf, and children of an inner node
	minItems = maxItems / 3 // below this a node is merged with its neighbour; lower than half, so that a node on the edge does not go back and forth
	maxDepth = 10           // minItems^maxDepth items: more than fit in any memory
)

// ordered is what a key must offer: a total order in which only equal keys
// compare as 0.
type ordered[K any] interface{ Compare(K) int }

// pair has the value first, since a zero-size field at a struct's end would
// cost a word (index trees have no value).
type pair[K, V any] struct {
	val V
	key K
}

// node is a leaf (kids is nil, items are sorted) or an inner node (items is
// nil). In an inner node seps[i] is greater than every key under kids[i], and
// not greater than any key under kids[i+1].
type node[K ordered[K], V any] struct {
	epoch uint64 // fixed; see tree
	items []pair[K, V]
	seps  []K
	kids  []*node[K, V]
}

func (n *node[K, V]) size() int {
	if n.kids != nil {
		return len(n.kids)
	}
	return len(n.items)
}

// clone copies the node, not its children.
func (n *node[K, V]) clone(epoch uint64) *node[K, V] {
	c := &node[K, V]{epoch: epoch}
	if n.kids == nil {
		c.items = append(make([]pair[K, V], 0, len(n.items)), n.items...)
		return c
	}
	c.seps = append(make([]K, 0, len(n.seps)), n.seps...)
	c.kids = append(make([]*node[K, V], 0, len(n.kids)), n.kids...)
	return c
}

// upper returns how many of an inner node's separators are not greater than k,
// which is the child to look for k in.
func (n *node[K, V]) upper(k K) int {
	lo, hi := 0, len(n.seps)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.seps[mid].Compare(k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// lower returns the first of a leaf's items whose key is not less than k.
func (n *node[K, V]) lower(k K) (int, bool) {
	lo, hi := 0, len(n.items)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := n.items[mid].key.Compare(k); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid, true
		}
	}
	return lo, false
}

// view is an immutable state of a tree. Its zero value is empty. Safe for
// concurrent use.
type view[K ordered[K], V any] struct {
	root *node[K, V]
	len  int
}

// get returns the value under k.
func (v view[K, V]) get(k K) (V, bool) {
	n := v.root
	if n == nil {
		var none V
		return none, false
	}
	for n.kids != nil {
		n = n.kids[n.upper(k)]
	}
	if i, ok := n.lower(k); ok {
		return n.items[i].val, true
	}
	var none V
	return none, false
}

// find leads p to k, or to where k would be inserted, which may be one past
// the end of a leaf.
func (v view[K, V]) find(k K, p *path[K, V]) bool {
	n := v.root
	p.depth = 0
	if n == nil {
		return false
	}
	for n.kids != nil {
		i := n.upper(k)
		p.push(n, i)
		n = n.kids[i]
	}
	i, found := n.lower(k)
	p.push(n, i)
	return found
}

// seek leads p to the first item whose key is not less than k.
func (v view[K, V]) seek(k K, p *path[K, V]) {
	v.find(k, p)
	p.settle()
}

// first leads p to the first item.
func (v view[K, V]) first(p *path[K, V]) {
	p.depth = 0
	if v.root != nil {
		p.descend(v.root)
	}
}

// all yields every item in order.
func (v view[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		var p path[K, V]
		for v.first(&p); p.valid(); p.skip(0) {
			for i := range p.rest() {
				it := &p.rest()[i]
				if !yield(it.key, it.val) {
					return
				}
			}
		}
	}
}

// tree is the writer's face. Its zero value is empty and ready. Not safe for
// concurrent use; views of it are.
type tree[K ordered[K], V any] struct {
	view[K, V]
	epoch uint64 // nodes with this epoch are in no view
}

// snapshot returns the present state, for good.
func (t *tree[K, V]) snapshot() view[K, V] {
	t.epoch++
	return t.view
}

// put stores v under k.
func (t *tree[K, V]) put(k K, v V) {
	var p path[K, V]
	if t.find(k, &p) {
		t.replaceAt(&p, v)
	} else {
		t.insertAt(&p, k, v)
	}
}

// remove deletes k and reports whether it was there.
func (t *tree[K, V]) remove(k K) bool {
	var p path[K, V]
	if !t.find(k, &p) {
		return false
	}
	t.deleteAt(&p)
	return true
}
