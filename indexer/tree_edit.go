package indexer

import "slices"

// own copies what views may see of the path, so that its nodes can be changed.
func (t *tree[K]) own(p *path[K]) {
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

// insertAt inserts k at p, which find has led to where k belongs.
func (t *tree[K]) insertAt(p *path[K], k K) {
	t.len++
	if p.depth == 0 {
		t.root = &node[K]{epoch: t.epoch, keys: []K{k}}
		return
	}
	t.own(p)
	if len(p.node[p.depth-1].keys) == maxKeys {
		t.split(p, p.depth-1, k)
	}
	leaf := p.node[p.depth-1]
	leaf.keys = insert(leaf.keys, p.at[p.depth-1], k)
}

// split divides the full node at level d, and its full ancestors, to make room
// for k. The path goes on leading to where k belongs.
func (t *tree[K]) split(p *path[K], d int, k K) {
	if d == 0 {
		t.root = &node[K]{epoch: t.epoch, kids: []*node[K]{p.node[0]}}
		copy(p.node[1:], p.node[:p.depth])
		copy(p.at[1:], p.at[:p.depth])
		p.node[0], p.at[0] = t.root, 0
		p.depth++
		d = 1
	} else if len(p.node[d-1].kids) == maxKeys {
		depth := p.depth
		t.split(p, d-1, k)
		d += p.depth - depth
	}
	n, parent, at := p.node[d], p.node[d-1], p.at[d-1]
	var right *node[K]
	var sep K
	mid := maxKeys / 2
	if n.kids == nil && p.atEnd() {
		// Keys that come in order (a list does) fill the leaves to the brim.
		mid = maxKeys
		right, sep = &node[K]{epoch: t.epoch}, k
	} else {
		right, sep = n.splitOff(mid, t.epoch)
	}
	parent.kids = insert(parent.kids, at+1, right)
	parent.keys = insert(parent.keys, at, sep)
	// In a leaf, k at mid is less than the right half's first key, so it
	// belongs to the left; in an inner node child mid is the right half's.
	if p.at[d] > mid || p.at[d] == mid && (n.kids != nil || mid == maxKeys) {
		p.node[d], p.at[d] = right, p.at[d]-mid
		p.at[d-1]++
	}
}

// atEnd reports whether p is past the tree's last key.
func (p *path[K]) atEnd() bool {
	for d := range p.depth - 1 {
		if p.at[d] != len(p.node[d].kids)-1 {
			return false
		}
	}
	return p.at[p.depth-1] == len(p.node[p.depth-1].keys)
}

// splitOff moves what follows the first mid keys or children to a new node,
// and returns it with the separator that goes between the two.
func (n *node[K]) splitOff(mid int, epoch uint64) (right *node[K], sep K) {
	right = &node[K]{epoch: epoch}
	if n.kids == nil {
		right.keys = slices.Clone(n.keys[mid:])
		n.keys = truncate(n.keys, mid)
		return right, right.keys[0]
	}
	right.kids = slices.Clone(n.kids[mid:])
	right.keys = slices.Clone(n.keys[mid:])
	sep = n.keys[mid-1]
	n.kids = truncate(n.kids, mid)
	n.keys = truncate(n.keys, mid-1)
	return right, sep
}

// deleteAt deletes the key at p, which find has led to a key that is there.
func (t *tree[K]) deleteAt(p *path[K]) {
	t.len--
	t.own(p)
	leaf := p.node[p.depth-1]
	leaf.keys = slices.Delete(leaf.keys, p.at[p.depth-1], p.at[p.depth-1]+1)
	for d := p.depth - 1; d > 0 && p.node[d].size() < minKeys; d-- {
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
func (t *tree[K]) rebalance(parent *node[K], i int) {
	if i == len(parent.kids)-1 {
		i--
	}
	l, r := parent.kids[i], parent.kids[i+1]
	both := &node[K]{epoch: t.epoch}
	if l.kids == nil {
		both.keys = slices.Concat(l.keys, r.keys)
	} else {
		both.kids = slices.Concat(l.kids, r.kids)
		both.keys = slices.Concat(l.keys, parent.keys[i:i+1], r.keys)
	}
	parent.kids[i] = both
	if n := both.size(); n > maxKeys {
		parent.kids[i+1], parent.keys[i] = both.splitOff(n/2, t.epoch)
		return
	}
	parent.kids = slices.Delete(parent.kids, i+1, i+2)
	parent.keys = slices.Delete(parent.keys, i, i+1)
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
	grown := make([]E, len(s)+1, max(len(s)+1, min(maxKeys, len(s)+len(s)/2+4)))
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
