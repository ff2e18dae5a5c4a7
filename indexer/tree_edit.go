package indexer

import "slices"

// own copies what views may see of the path, so that its nodes can be changed.
func (t *tree[K, V]) own(p *path[K, V]) {
	for d := range p.depth {
		if p.node[d].epoch == t.epoch {
			continue
		}
		p.node[d] = p.node[d].clone(t.epoch)
		if d == 0 {
			t.root = p.node[0]
		} else {
			p.node[d-1].kids[p.at[d-1]] = p.node[d]
		}
	}
}

// replaceAt changes the value at p, which find has led to a key that is there.
// The path stays valid.
func (t *tree[K, V]) replaceAt(p *path[K, V], v V) {
	t.own(p)
	p.item().val = v
}

// insertAt inserts k at p, which find has led to where k belongs.
func (t *tree[K, V]) insertAt(p *path[K, V], k K, v V) {
	t.len++
	if p.depth == 0 {
		t.root = &node[K, V]{epoch: t.epoch, items: []pair[K, V]{{v, k}}}
		return
	}
	t.own(p)
	if len(p.node[p.depth-1].items) == maxItems {
		t.split(p, p.depth-1, k)
	}
	leaf := p.node[p.depth-1]
	leaf.items = insert(leaf.items, p.at[p.depth-1], pair[K, V]{v, k})
}

// split divides the full node at level d, and its full ancestors, to make room
// for k. The path goes on leading to where k belongs.
func (t *tree[K, V]) split(p *path[K, V], d int, k K) {
	if d == 0 {
		t.root = &node[K, V]{epoch: t.epoch, kids: []*node[K, V]{p.node[0]}}
		copy(p.node[1:], p.node[:p.depth])
		copy(p.at[1:], p.at[:p.depth])
		p.node[0], p.at[0] = t.root, 0
		p.depth++
		d = 1
	} else if len(p.node[d-1].kids) == maxItems {
		depth := p.depth
		t.split(p, d-1, k)
		d += p.depth - depth
	}
	n, parent, at := p.node[d], p.node[d-1], p.at[d-1]
	var right *node[K, V]
	var sep K
	mid := maxItems / 2
	if n.kids == nil && p.atEnd() {
		// Keys that come in order (a list does) fill the leaves to the brim.
		mid = maxItems
		right, sep = &node[K, V]{epoch: t.epoch}, k
	} else {
		right, sep = n.splitOff(mid, t.epoch)
	}
	parent.kids = insert(parent.kids, at+1, right)
	parent.seps = insert(parent.seps, at, sep)
	// In a leaf, k at mid is less than the right half's first key, so it
	// belongs to the left; in an inner node child mid is the right half's.
	if p.at[d] > mid || p.at[d] == mid && (n.kids != nil || mid == maxItems) {
		p.node[d], p.at[d] = right, p.at[d]-mid
		p.at[d-1]++
	}
}

// atEnd reports whether p is past the tree's last item.
func (p *path[K, V]) atEnd() bool {
	for d := range p.depth - 1 {
		if p.at[d] != len(p.node[d].kids)-1 {
			return false
		}
	}
	return p.at[p.depth-1] == len(p.node[p.depth-1].items)
}

// splitOff moves what follows the first mid items or children to a new node,
// and returns it with the separator that goes between the two.
func (n *node[K, V]) splitOff(mid int, epoch uint64) (right *node[K, V], sep K) {
	right = &node[K, V]{epoch: epoch}
	if n.kids == nil {
		right.items = slices.Clone(n.items[mid:])
		n.items = truncate(n.items, mid)
		return right, right.items[0].key
	}
	right.kids = slices.Clone(n.kids[mid:])
	right.seps = slices.Clone(n.seps[mid:])
	sep = n.seps[mid-1]
	n.kids = truncate(n.kids, mid)
	n.seps = truncate(n.seps, mid-1)
	return right, sep
}

// deleteAt deletes the item at p, which find has led to a key that is there.
func (t *tree[K, V]) deleteAt(p *path[K, V]) {
	t.len--
	t.own(p)
	leaf := p.node[p.depth-1]
	leaf.items = slices.Delete(leaf.items, p.at[p.depth-1], p.at[p.depth-1]+1)
	for d := p.depth - 1; d > 0 && p.node[d].size() < minItems; d-- {
		t.rebalance(p.node[d-1], p.at[d-1])
	}
	for t.root != nil && t.root.kids != nil && len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	if t.root.size() == 0 {
		t.root = nil
	}
}

// rebalance merges a small child with a neighbour, or divides what both hold
// evenly if that is too much for one node. The neighbour may be shared with a
// view, so both are built anew.
func (t *tree[K, V]) rebalance(parent *node[K, V], i int) {
	if i == len(parent.kids)-1 {
		i--
	}
	l, r := parent.kids[i], parent.kids[i+1]
	both := &node[K, V]{epoch: t.epoch}
	if l.kids == nil {
		both.items = slices.Concat(l.items, r.items)
	} else {
		both.kids = slices.Concat(l.kids, r.kids)
		both.seps = slices.Concat(l.seps, parent.seps[i:i+1], r.seps)
	}
	parent.kids[i] = both
	if n := both.size(); n > maxItems {
		parent.kids[i+1], parent.seps[i] = both.splitOff(n/2, t.epoch)
		return
	}
	parent.kids = slices.Delete(parent.kids, i+1, i+2)
	parent.seps = slices.Delete(parent.seps, i, i+1)
}

// insert is slices.Insert with growth that suits a node: by half, to no more
// than a node may hold.
func insert[E any](s []E, i int, e E) []E {
	if len(s) < cap(s) {
		s = s[:len(s)+1]
		copy(s[i+1:], s[i:])
		s[i] = e
		return s
	}
	grown := make([]E, len(s)+1, max(len(s)+1, min(maxItems, len(s)+len(s)/2+4)))
	copy(grown, s[:i])
	grown[i] = e
	copy(grown[i+1:], s[i:])
	return grown
}

// truncate shortens s, and lets go of what it held behind.
func truncate[E any](s []E, n int) []E {
	clear(s[n:])
	return s[:n]
}
