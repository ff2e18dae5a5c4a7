package indexer

// path is a place in a tree: the nodes from the root down to a leaf, and in
// each of them the child, or in the leaf the key, that it goes through. It is
// both the cursor of a reader and what a writer looks up before it changes
// something. A change of the tree makes it invalid, except as said at the
// method that makes the change.
//
// It is a fixed array, so that it can live on the stack.
type path[K ordered[K]] struct {
	depth int // number of levels; 0 is the place after the last key
	node  [maxDepth]*node[K]
	at    [maxDepth]int
}

func (p *path[K]) push(n *node[K], i int) {
	p.node[p.depth], p.at[p.depth] = n, i
	p.depth++
}

// descend goes on to the first key under n.
func (p *path[K]) descend(n *node[K]) {
	for ; n.kids != nil; n = n.kids[0] {
		p.push(n, 0)
	}
	p.push(n, 0)
}

func (p *path[K]) valid() bool { return p.depth > 0 }

func (p *path[K]) key() K { return p.node[p.depth-1].keys[p.at[p.depth-1]] }

// next goes one key on.
func (p *path[K]) next() {
	p.at[p.depth-1]++
	p.settle()
}

// settle moves a place past the end of a leaf to the start of the next one.
func (p *path[K]) settle() {
	if leaf := p.depth - 1; leaf >= 0 && p.at[leaf] >= len(p.node[leaf].keys) {
		p.skip(0)
	}
}

// rest returns what the leaf holds from here on. Not to be changed.
func (p *path[K]) rest() []K {
	return p.node[p.depth-1].keys[p.at[p.depth-1]:]
}

// skip goes to the first key after the subtree that has the place in it and
// is h levels above the leaf: 0 leaves the leaf.
func (p *path[K]) skip(h int) {
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

// forward goes on to the first key that is not less than k, which must
// not lie before the place. Looking for ascending keys this way costs less
// than as many lookups from the root, since it climbs only as far as needed.
func (p *path[K]) forward(k K) {
	if !p.valid() {
		return
	}
	leaf := p.node[p.depth-1]
	if leaf.keys[len(leaf.keys)-1].Compare(k) < 0 {
		if p.depth == 1 {
			p.depth = 0
			return
		}
		d := p.depth - 2
		for d > 0 && p.node[d].keys[len(p.node[d].keys)-1].Compare(k) <= 0 {
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
