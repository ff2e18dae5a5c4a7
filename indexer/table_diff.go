package indexer

// diffTables calls yield for every id that doesn't lead to the same in both
// views, in order of ids; nil stands for "nothing there". It returns false as
// soon as yield does.
//
// Pages and leaves that both views share are skipped whole, so it costs what
// has changed between the two, rounded up to leaves, not what they hold.
func diffTables[E any](a, b tableView[E], yield func(before, after *E) bool) bool {
	var noPage page[E]
	var noLeaf leaf[E]
	for i := range max(len(a.pages), len(b.pages)) {
		p, q := pageAt(a, i), pageAt(b, i)
		if p == q {
			continue
		}
		p, q = orElse(p, &noPage), orElse(q, &noPage)
		for j := range pageSize {
			l, m := p.leaves[j], q.leaves[j]
			if l == m {
				continue
			}
			l, m = orElse(l, &noLeaf), orElse(m, &noLeaf)
			for k := range leafSize {
				if before, after := l.at[k], m.at[k]; before != after && !yield(before, after) {
					return false
				}
			}
		}
	}
	return true
}

func pageAt[E any](v tableView[E], i int) *page[E] {
	if i < len(v.pages) {
		return v.pages[i]
	}
	return nil
}

func orElse[E any](p, none *E) *E {
	if p == nil {
		return none
	}
	return p
}
