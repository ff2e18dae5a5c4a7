package indexer

import "iter"

// The tree is an ordered set, in the form of a B+ tree: every key is in a leaf,
// all leaves are equally deep, and inner nodes only say the way. Wide nodes keep
// neighbours together in memory, so that an ordered scan costs a few
// nanoseconds a key.
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
//	view   find, seek, first, all, len
//	path   valid, key, next, rest, skip, forward
//	tree   snapshot, put, remove

const (
	maxKeys  = 32          // of a leaf, and children of an inner node
	minKeys  = maxKeys / 3 // below this a node is merged with its neighbour; lower than half, so that a node on the edge does not go back and forth
	maxDepth = 10          // minKeys^maxDepth keys: more than fit in any memory
)

// ordered is what a key must offer: a total order in which only equal keys
// compare as 0.
type ordered[K any] interface{ Compare(K) int }

// node is a leaf, which has no kids and holds keys in order, or an inner node.
// There keys are only separators, one less than kids: keys[i] is greater than
// every key under kids[i], and not greater than any key under kids[i+1].
type node[K ordered[K]] struct {
	epoch uint64 // fixed; see tree
	keys  []K
	kids  []*node[K]
}

func (n *node[K]) size() int {
	if n.kids != nil {
		return len(n.kids)
	}
	return len(n.keys)
}

// clone copies the node, not its children.
func (n *node[K]) clone(epoch uint64) *node[K] {
	c := &node[K]{epoch: epoch, keys: append(make([]K, 0, len(n.keys)), n.keys...)}
	if n.kids == nil {
		return c
	}
	c.kids = append(make([]*node[K], 0, len(n.kids)), n.kids...)
	return c
}

// upper returns how many of an inner node's separators are not greater than k,
// which is the child to look for k in.
func (n *node[K]) upper(k K) int {
	lo, hi := 0, len(n.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.keys[mid].Compare(k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// lower returns the first of a leaf's keys that is not less than k.
func (n *node[K]) lower(k K) (int, bool) {
	lo, hi := 0, len(n.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := n.keys[mid].Compare(k); {
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
type view[K ordered[K]] struct {
	root *node[K]
	len  int
}

// find leads p to k, or to where k would be inserted, which may be one past
// the end of a leaf.
func (v view[K]) find(k K, p *path[K]) bool {
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

// seek leads p to the first key whose key is not less than k.
func (v view[K]) seek(k K, p *path[K]) {
	v.find(k, p)
	p.settle()
}

// first leads p to the first key.
func (v view[K]) first(p *path[K]) {
	p.depth = 0
	if v.root != nil {
		p.descend(v.root)
	}
}

// all yields every key in order.
func (v view[K]) all() iter.Seq[K] {
	return func(yield func(K) bool) {
		var p path[K]
		for v.first(&p); p.valid(); p.skip(0) {
			for _, k := range p.rest() {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// tree is the writer's face. Its zero value is empty and ready. Not safe for
// concurrent use; views of it are.
type tree[K ordered[K]] struct {
	view[K]
	epoch uint64 // nodes with this epoch are in no view
}

// snapshot returns the present state, for good.
func (t *tree[K]) snapshot() view[K] {
	t.epoch++
	return t.view
}

// put makes k a key of the set. It does nothing if it is one.
func (t *tree[K]) put(k K) {
	var p path[K]
	if !t.find(k, &p) {
		t.insertAt(&p, k)
	}
}

// remove deletes k and reports whether it was there.
func (t *tree[K]) remove(k K) bool {
	var p path[K]
	if !t.find(k, &p) {
		return false
	}
	t.deleteAt(&p)
	return true
}
