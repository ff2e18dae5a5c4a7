package apisim

import (
	"fmt"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstRV is the revision of an empty store. It is above 1 so that "watch from
// 1" is out of the window from the start, as on a server that has been set up.
const firstRV = 100

// maxRV leaves room below the largest number that etcd and continue tokens hold.
const maxRV = 1 << 62

// store plays etcd: one counter for all resources, the current state, and the
// recent history of each resource. The servers' caches are places in it.
//
// mu guards everything below it, revision.older and the caches. No one blocks,
// encodes or calls user code while holding it, except for Resource.Fields
// during a filtered scan.
type store struct {
	history int // writes kept for each resource

	mu     sync.RWMutex
	rv     uint64
	tables map[schema.GroupVersionResource]*table
	caches []*cache
	// compacted is the oldest RV that may be read exactly.
	compacted uint64
}

// table holds one resource. Guarded by store.mu.
type table struct {
	res     Resource
	entries map[string]*entry
	keys    keyList
	live    int // objects that exist now

	// log holds the last writes, oldest first.
	log []*revision
	// lost is the RV of the newest write that has left the log: a reader that
	// has not seen it cannot go on.
	lost uint64
	// floor is the oldest RV that a request may name; at least lost.
	floor uint64
}

func newStore(resources []Resource, history int) *store {
	s := &store{
		history: history,
		rv:      firstRV,
		tables:  make(map[schema.GroupVersionResource]*table, len(resources)),
	}
	for _, r := range resources {
		s.tables[r.GVR] = &table{
			res:     r,
			entries: make(map[string]*entry),
			floor:   firstRV,
		}
	}
	return s
}

func (s *store) current() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rv
}

// get returns the newest version of the object, nil if it does not exist.
func (s *store) get(t *table, key string) *revision {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return t.get(key)
}

// read is get of what a server has heard of; without a cache it is get.
func (s *store) read(t *table, key string, c *cache) *revision {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := t.entries[key]
	if e == nil {
		return nil
	}
	r := e.head
	for r != nil && c != nil && r.rv > c.at(t) {
		r = r.older
	}
	if r == nil || r.deleted {
		return nil
	}
	return r
}

func (t *table) get(key string) *revision {
	if e := t.entries[key]; e != nil && !e.head.deleted {
		return e.head
	}
	return nil
}

// commit stores the next version of an object, or its deletion, if the newest
// version is still prev (nil: the object must not exist). It numbers the
// revision and wakes whoever waits for it. It reports false, and changes
// nothing, if another write came first. Several writes, of different keys,
// happen in one revision.
func (s *store) commit(t *table, writes ...change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range writes {
		if t.get(w.rev.key) != w.prev {
			return false
		}
	}
	for _, c := range s.caches {
		c.settle() // before the write: it belongs to what comes after
	}
	s.rv++
	for _, w := range writes {
		w.rev.rv = s.rv
		w.rev.meta().SetResourceVersion(formatRV(s.rv))
		s.append(t, w.rev)
	}
	for _, c := range s.caches {
		c.heard(t)
	}
	return true
}

// append makes next the head of its key and the end of the log.
func (s *store) append(t *table, next *revision) {
	e := t.entries[next.key]
	if e == nil {
		e = &entry{key: next.key}
		t.entries[next.key] = e
		t.keys.insert(e)
	}
	if e.head != nil && !e.head.deleted {
		t.live--
	}
	if !next.deleted {
		t.live++
	}
	next.older = e.head
	e.head = next
	t.log = append(t.log, next)
	for len(t.log) > s.history {
		s.forgetOldest(t)
	}
}

// forgetOldest drops the oldest write of the log. What it replaced can no
// longer be read, and a deletion leaves no trace. A cache that was before it is
// taken along: a lag is bounded by the history.
func (s *store) forgetOldest(t *table) {
	r := t.log[0]
	t.log[0] = nil
	t.log = t.log[1:]
	t.lost = r.rv
	t.floor = max(t.floor, r.rv)
	r.older = nil
	if r.deleted && t.entries[r.key].head == r {
		delete(t.entries, r.key)
		t.keys.remove(r.key)
	}
	for _, c := range s.caches {
		if c.rv < r.rv {
			c.moveTo(r.rv, nil)
		}
	}
}

// forget drops all history, of all resources.
func (s *store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		for len(t.log) > 0 {
			s.forgetOldest(t)
		}
		t.log = nil
		t.floor = s.rv
	}
	for _, c := range s.caches {
		c.moveTo(s.rv, nil)
	}
}

// compactTo forgets the exact states before the RV.
func (s *store) compactTo(rv uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rv > s.rv {
		return fmt.Errorf("apisim: compact at %d: the newest revision is %d", rv, s.rv)
	}
	s.compacted = max(s.compacted, rv)
	return nil
}

// rollback undoes every write above the RV.
func (s *store) rollback(rv uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rv > s.rv {
		return fmt.Errorf("apisim: roll back to %d: the newest revision is %d", rv, s.rv)
	}
	for gvr, t := range s.tables {
		if rv < t.floor {
			return fmt.Errorf("apisim: roll back to %d: the history of %s begins at %d", rv, gvr.GroupResource(), t.floor)
		}
	}
	for _, t := range s.tables {
		for i := len(t.log) - 1; i >= 0 && t.log[i].rv > rv; i-- {
			t.undo(t.log[i])
			t.log[i] = nil
			t.log = t.log[:i]
		}
	}
	s.rv = rv
	s.compacted = min(s.compacted, rv)
	for _, c := range s.caches {
		c.rebuild()
	}
	return nil
}

// undo takes back the newest write of a key.
func (t *table) undo(r *revision) {
	e := t.entries[r.key]
	if !r.deleted {
		t.live--
	}
	e.head = r.older
	switch {
	case e.head == nil:
		delete(t.entries, r.key)
		t.keys.remove(r.key)
	case !e.head.deleted:
		t.live++
	}
}

// bump advances the counter without a write.
func (s *store) bump(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.caches {
		c.settle()
	}
	s.rv += min(n, maxRV-min(s.rv, maxRV))
	for _, c := range s.caches {
		c.heard(nil)
	}
}

// firstAbove returns the index of the oldest logged write above the RV.
func (t *table) firstAbove(rv uint64) int {
	return sort.Search(len(t.log), func(i int) bool { return t.log[i].rv > rv })
}

// change is a write with what it replaced.
type change struct {
	rev, prev *revision
}
