package apisim

import (
	"context"
	"sort"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstRV is the revision of an empty store. It is above 1 so that "watch from
// 1" is out of the window from the start, as on a server that has been set up.
const firstRV = 100

// store plays etcd and the watch cache: one counter for all resources, the
// current state, and the recent history of each resource.
//
// mu guards everything below it, revision.older and watcher registration. No
// one blocks, encodes or calls user code while holding it, except for
// Resource.Fields during a filtered scan.
type store struct {
	window int // events kept for each resource

	mu      sync.RWMutex
	rv      uint64
	tables  map[schema.GroupVersionResource]*table
	waiters map[chan struct{}]uint64 // closed once rv has reached the number
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

	watchers map[*watcher]struct{}
}

func newStore(resources []Resource, window int) *store {
	s := &store{
		window:  window,
		rv:      firstRV,
		tables:  make(map[schema.GroupVersionResource]*table, len(resources)),
		waiters: make(map[chan struct{}]uint64),
	}
	for _, r := range resources {
		s.tables[r.GVR] = &table{
			res:      r,
			entries:  make(map[string]*entry),
			floor:    firstRV,
			watchers: make(map[*watcher]struct{}),
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

func (t *table) get(key string) *revision {
	if e := t.entries[key]; e != nil && !e.head.deleted {
		return e.head
	}
	return nil
}

// commit stores the next version of an object, or its deletion, if the newest
// version is still cur (nil: the object must not exist). It numbers the
// revision and wakes whoever waits for it. It reports false, and changes
// nothing, if another write came first.
func (s *store) commit(t *table, cur, next *revision) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.get(next.key) != cur {
		return false
	}
	s.rv++
	next.rv = s.rv
	next.obj.(metav1.Object).SetResourceVersion(formatRV(s.rv))
	t.append(next, s.window)
	for ch, rv := range s.waiters {
		if s.rv >= rv {
			close(ch)
			delete(s.waiters, ch)
		}
	}
	for w := range t.watchers {
		w.signal()
	}
	return true
}

// append makes next the head of its key and the end of the log.
func (t *table) append(next *revision, window int) {
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
	for len(t.log) > window {
		t.forgetOldest()
	}
}

// forgetOldest drops the oldest write of the log. What it replaced can no
// longer be read, and a deletion leaves no trace.
func (t *table) forgetOldest() {
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
}

// compact forgets all history, of all resources.
func (s *store) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		for len(t.log) > 0 {
			t.forgetOldest()
		}
		t.log = nil
		t.floor = s.rv
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

// changesAfter appends to buf up to limit writes above the RV. It returns the RV
// that the reader has then seen everything up to, and false if writes above
// the RV are already forgotten.
func (s *store) changesAfter(t *table, rv uint64, buf []change, limit int) (_ []change, seen uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if rv < t.lost {
		return buf, rv, false
	}
	rest := t.log[t.firstAbove(rv):]
	more := len(rest) > limit
	if more {
		rest = rest[:limit]
	}
	for _, r := range rest {
		buf = append(buf, change{r, r.older})
	}
	if more {
		return buf, rest[len(rest)-1].rv, true
	}
	// Not below rv: a watch may start in the future.
	return buf, max(rv, s.rv), true
}

// lag counts the writes above the RV that are still in the log.
func (s *store) lag(t *table, rv uint64) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(t.log) - t.firstAbove(rv)
}

// waitFor waits until the store has reached the RV, or for the time given. It
// reports whether it has; on a context that ends first it has not.
func (s *store) waitFor(ctx context.Context, rv uint64, limit time.Duration) bool {
	s.mu.Lock()
	if s.rv >= rv {
		s.mu.Unlock()
		return true
	}
	reached := make(chan struct{})
	s.waiters[reached] = rv
	s.mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-reached:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiters, reached)
	return s.rv >= rv
}
