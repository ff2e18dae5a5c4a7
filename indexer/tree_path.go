package indexer

// path is a place in a tree: the nodes from the root down to a leaf, and in
// each of them the child, or in the leaf the item, that it goes through. It is
// both the cursor of a reader and what a writer looks up before it changes
// something. A change of the tree makes it invalid, except as said at the
// method that makes the change.
//
// It is a fixed array, so that it can live on the stack.
type path[K ordered[K], V any] struct {
	depth int // number of levels; 0 is the place after the last item
	node  [maxDepth]*node[K, V]
	at    [maxDepth]int
}

func (p *path[K, V]) push(n *node[K, V], i int) {
	p.node[p.depth], p.at[p.depth] = n, i
	p.depth++
}

// descend goes on to the first item under n.
func (p *path[K, V]) descend(n *node[K, V]) {
	for ; n.kids != nil; n = n.kids[0] {
		p.push(n, 0)
	}
	p.push(n, 0)
}

func (p *path[K, V]) valid() bool { return p.depth > 0 }

func (p *path[K, V]) item() *pair[K, V] {
	return &p.node[p.depth-1].items[p.at[p.depth-1]]
}

func (p *path[K, V]) key() K { return p.item().key }
func (p *path[K, V]) val() V { return p.item().val }

// next goes one item on.
func (p *path[K, V]) next() {
	p.at[p.depth-1]++
	p.settle()
}

// settle moves a place past the end of a leaf to the start of the next one.
func (p *path[K, V]) settle() {
	if leaf := p.depth - 1; leaf >= 0 && p.at[leaf] >= len(p.node[leaf].items) {
		p.skip(0)
	}
}

// rest returns what the leaf holds from here on. Not to be changed.
func (p *path[K, V]) rest() []pair[K, V] {
	return p.node[p.depth-1].items[p.at[p.depth-1]:]
}

// skip goes to the first item after the subtree that has the place in it and
// is h levels above the leaf: 0 leaves the leaf.
func (p *path[K, V]) skip(h int) {
	for d := p.depth - 2 - h; d >= 0; d-- {
		p.at[d]++
		if p.at[d] < len(p.node[d].kids) {
			p.depth = d + 1
			p.descend(p.node[d].kids[p.at[d]])
			return
		}
	}
	p.depth = 0
}

// forward goes on to the first item whose key is not less than k, which must
// not lie before the place. Looking for ascending keys this way costs less
// than as many lookups from the root, since it climbs only as far as needed.
func (p *path[K, V]) forward(k K) {
	if !p.valid() {
		return
	}
	leaf := p.node[p.depth-1]
	if leaf.items[len(leaf.items)-1].key.Compare(k) < 0 {
		if p.depth == 1 {
			p.depth = 0
			return
		}
		d := p.depth - 2
		for d > 0 && p.node[d].seps[len(p.node[d].seps)-1].Compare(k) <= 0 {
			d--
		}
		p.depth = d
		n := p.node[d]
		for n.kids != nil {
			i := n.upper(k)
			p.push(n, i)
			n = n.kids[i]
		}
		p.push(n, 0)
		leaf = n
	}
	p.at[p.depth-1], _ = leaf.lower(k)
	p.settle()
}

// shared returns how many levels above the leaf the largest node is that both
// places are at the very start of: -1 if not even the leaf. A node that two
// trees share is at the same height in both.
func shared[K ordered[K], V any](a, b *path[K, V]) int {
	h := -1
	for da, db := a.depth-1, b.depth-1; da >= 0 && db >= 0; da, db = da-1, db-1 {
		if a.at[da] != 0 || b.at[db] != 0 || a.node[da] != b.node[db] {
			break
		}
		h++
	}
	return h
}
