package apisim

// scanRequest asks for the state of one table.
type scanRequest struct {
	selector
	at    uint64 // 0: the newest state
	cache *cache // if set: what this server has heard of, and not at
	start string // first key, inclusive; "" for the beginning
	limit int    // 0: no limit
}

// page is a part of a table's state at one RV.
type page struct {
	items []*revision
	rv    uint64
	// more says that the limit left matching objects out.
	more bool
	// remaining counts the objects left out; known only without a filter.
	remaining int64
	// floor is the oldest RV that could have been asked for; if the request
	// was below it, the page is expired and empty.
	floor   uint64
	expired bool
}

// scan reads the table at one RV. It costs a walk over the keys, no copy and no
// encoding.
func (s *store) scan(t *table, q scanRequest) page {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := page{rv: s.rv, floor: max(t.floor, s.compacted)}
	switch {
	case q.cache != nil:
		p.rv = q.cache.at(t)
	case q.at != 0:
		p.rv = q.at
		if q.at < p.floor {
			p.expired = true
			return p
		}
	}
	prefix := ""
	if q.namespace != "" {
		prefix = q.namespace + "/"
	}
	if q.limit == 0 && prefix == "" && q.unfiltered() {
		p.items = make([]*revision, 0, t.live)
	}
	for e := range t.keys.from(q.start, prefix) {
		r := e.head
		for r != nil && r.rv > p.rv {
			r = r.older
		}
		switch {
		case r == nil || r.deleted:
		case p.more:
			p.remaining++
		case !q.matches(r):
		case q.limit > 0 && len(p.items) == q.limit:
			p.more = true
			if !q.unfiltered() {
				return p
			}
			p.remaining = 1
		default:
			p.items = append(p.items, r)
		}
	}
	return p
}
