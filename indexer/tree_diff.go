package indexer

// diff calls yield for every key whose value is not the same in both views,
// in key order; the zero V stands for "not there". It returns false as soon as
// yield does.
//
// Subtrees that both views share are skipped whole, so it costs what has
// changed between the two (rounded up to leaves), not what they hold. That
// works for trees of unequal height, too, and where nodes have been split or
// merged since: going through both in key order, a shared node's start is
// reached in both at the same time.
func diff[K ordered[K], V comparable](a, b view[K, V], yield func(before, after V) bool) bool {
	var none V
	var p, q path[K, V]
	a.first(&p)
	b.first(&q)
	for p.valid() && q.valid() {
		if h := shared(&p, &q); h >= 0 {
			p.skip(h)
			q.skip(h)
			continue
		}
		x, y := p.item(), q.item()
		if x.val == y.val {
			// The same entry is under the same key.
			p.next()
			q.next()
			continue
		}
		switch c := x.key.Compare(y.key); {
		case c < 0:
			if !yield(x.val, none) {
				return false
			}
			p.next()
		case c > 0:
			if !yield(none, y.val) {
				return false
			}
			q.next()
		default:
			if !yield(x.val, y.val) {
				return false
			}
			p.next()
			q.next()
		}
	}
	for ; p.valid(); p.next() {
		if !yield(p.val(), none) {
			return false
		}
	}
	for ; q.valid(); q.next() {
		if !yield(none, q.val()) {
			return false
		}
	}
	return true
}
