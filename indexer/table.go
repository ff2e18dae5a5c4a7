package indexer

import "slices"

// The table leads from the ids of slots, which are small numbers, to what a
// slot holds. It is an array in three levels, so that it can be copied on write
// in the way that the tree is, and it comes in the same two faces: table for the
// one writer, tableView for readers. A lookup is three steps, and compares
// nothing.

const (
	leafSize = 32
	pageSize = 64 // leaves of a page
	perPage  = pageSize * leafSize
)

// leaf and page carry the epoch of the table in which they were made. One of an
// older epoch may be seen by a view: see tree.
type leaf[E any] struct {
	epoch uint64
	at    [leafSize]*E
}

type page[E any] struct {
	epoch  uint64
	leaves [pageSize]*leaf[E] // nil: all nil
}

// tableView is an immutable state of a table. Its zero value is empty. Safe for
// concurrent use.
type tableView[E any] struct {
	pages []*page[E] // nil: all nil
}

// get returns what is under an id, or nil.
func (v tableView[E]) get(id uint32) *E {
	if l := v.leaf(id); l != nil {
		return l.at[id%leafSize]
	}
	return nil
}

func (v tableView[E]) leaf(id uint32) *leaf[E] {
	if i := id / perPage; int(i) < len(v.pages) {
		if p := v.pages[i]; p != nil {
			return p.leaves[id/leafSize%pageSize]
		}
	}
	return nil
}

// tableScan is get for many ids, most of which are close to the one before, as
// the ids of neighbouring keys are when a list has brought them.
type tableScan[E any] struct {
	view tableView[E]
	no   uint32 // of leaf
	leaf *leaf[E]
}

func (v tableView[E]) scan() tableScan[E] { return tableScan[E]{view: v} }

func (s *tableScan[E]) get(id uint32) *E {
	if no := id / leafSize; s.leaf == nil || no != s.no {
		s.no, s.leaf = no, s.view.leaf(id)
		if s.leaf == nil {
			return nil
		}
	}
	return s.leaf.at[id%leafSize]
}

// table is the writer's face. Its zero value is empty and ready. Not safe for
// concurrent use; views of it are.
type table[E any] struct {
	tableView[E]
	epoch uint64 // pages and leaves with this epoch are in no view
	own   uint64 // the epoch in which the slice of pages was made

	next uint32   // ids from here on were never claimed
	free []uint32 // below next, and not claimed
}

// snapshot returns the present state, for good.
func (t *table[E]) snapshot() tableView[E] {
	t.epoch++
	return t.tableView
}

// claim returns an id that is not in use.
func (t *table[E]) claim() uint32 {
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		return id
	}
	t.next++
	return t.next - 1
}

// release gives an id back, and forgets what is under it.
func (t *table[E]) release(id uint32) {
	p, l := t.writable(id)
	l.at[id%leafSize] = nil
	if l.at == ([leafSize]*E{}) {
		if p.leaves[id/leafSize%pageSize] = nil; p.leaves == ([pageSize]*leaf[E]{}) {
			t.pages[id/perPage] = nil
		}
	}
	t.free = append(t.free, id)
}

// set puts e, which is not nil, under an id that is in use.
func (t *table[E]) set(id uint32, e *E) {
	_, l := t.writable(id)
	l.at[id%leafSize] = e
}

// writable returns the page and the leaf of an id, which no view sees.
func (t *table[E]) writable(id uint32) (*page[E], *leaf[E]) {
	if t.own != t.epoch {
		t.pages, t.own = slices.Clone(t.pages), t.epoch
	}
	i := int(id / perPage)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*page[E], i+1-len(t.pages))...)
	}
	p := t.pages[i]
	switch {
	case p == nil:
		p = &page[E]{epoch: t.epoch}
	case p.epoch != t.epoch:
		p = &page[E]{t.epoch, p.leaves}
	}
	t.pages[i] = p
	l := p.leaves[id/leafSize%pageSize]
	switch {
	case l == nil:
		l = &leaf[E]{epoch: t.epoch}
	case l.epoch != t.epoch:
		l = &leaf[E]{t.epoch, l.at}
	}
	p.leaves[id/leafSize%pageSize] = l
	return p, l
}
