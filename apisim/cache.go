package apisim

import (
	"context"
	"math"
	"time"
)

// Frozen, given to SetLag, stops a server's cache where it is.
const Frozen = math.MaxUint64

// cache plays the watch caches of one server. It holds no objects: it is a
// place in the store's history, up to which this server has heard of writes,
// and the oldest place a watch may start from.
//
// Everything here is guarded by store.mu.
type cache struct {
	store  *store
	window int    // writes of a resource in which a watch can resume; 0: all that is kept
	rv     uint64 // what this server has heard of
	lag    uint64
	tables map[*table]*cachedTable
	// waiters are closed once rv has reached the number.
	waiters map[chan struct{}]uint64

	// downSince and readyAt are set while the cache is being built anew after a
	// restart. It is built from the state at readyAt.
	downSince, readyAt time.Time
}

// cachedTable is the part of a cache that belongs to one resource.
type cachedTable struct {
	// floor is the oldest RV that a watch may start from, whatever the window.
	floor    uint64
	watchers map[*watcher]struct{}
}

func (s *store) newCache(window int) *cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &cache{
		store: s, window: window, rv: s.rv,
		tables:  make(map[*table]*cachedTable, len(s.tables)),
		waiters: make(map[chan struct{}]uint64),
	}
	for _, t := range s.tables {
		c.tables[t] = &cachedTable{floor: s.rv, watchers: make(map[*watcher]struct{})}
	}
	s.caches = append(s.caches, c)
	return c
}

// heard moves the cache as close to the store as its lag allows. t is the
// resource that was written, nil for none or several.
func (c *cache) heard(t *table) {
	if !c.settle() {
		return
	}
	s := c.store
	at := s.rv
	if c.lag > 0 {
		at -= min(c.lag, at)
		t = nil // what becomes visible is an older write
	}
	if at <= c.rv {
		if c.lag > 0 {
			c.signal(t, true)
		}
		return
	}
	c.moveTo(at, t)
}

// moveTo lets the cache hear of everything up to the RV.
func (c *cache) moveTo(rv uint64, t *table) {
	c.rv = rv
	for ch, want := range c.waiters {
		if rv >= want {
			close(ch)
			delete(c.waiters, ch)
		}
	}
	c.signal(t, false)
}

// signal wakes the watches of a resource, or of all. uncached picks those that
// read the store and not the cache.
func (c *cache) signal(t *table, uncached bool) {
	for ct, cached := range c.tables {
		if t != nil && t != ct || uncached && !ct.res.Uncached {
			continue
		}
		for w := range cached.watchers {
			w.signal()
		}
	}
}

// settle finishes a restart whose time has come. It reports whether the cache
// is ready.
func (c *cache) settle() bool {
	if c.readyAt.IsZero() {
		return true
	}
	if time.Now().Before(c.readyAt) {
		return false
	}
	c.readyAt, c.downSince = time.Time{}, time.Time{}
	c.rebuild()
	return true
}

// rebuild makes the cache anew from the store's present state: no watch can
// start below it.
func (c *cache) rebuild() {
	for t, cached := range c.tables {
		if !t.res.Uncached {
			cached.floor = c.store.rv
		}
	}
	c.moveTo(c.store.rv, nil)
}

// at is the RV that a read of the resource from this server shows.
func (c *cache) at(t *table) uint64 {
	if t.res.Uncached {
		return c.store.rv
	}
	return c.rv
}

// floor is the oldest RV from which a watch of the resource may start.
func (c *cache) floor(t *table) uint64 {
	if t.res.Uncached {
		// etcd needs the first write that the watch is to see, one above its RV.
		return max(t.floor, c.store.compacted-min(c.store.compacted, 1))
	}
	floor := max(t.floor, c.tables[t].floor)
	if n := t.firstAbove(c.rv); c.window > 0 && n > c.window {
		floor = max(floor, t.log[n-c.window-1].rv)
	}
	return floor
}

// ready reports whether the cache can answer; if not, since when it cannot.
func (c *cache) ready() (downSince time.Time, ok bool) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	ok = c.settle()
	return c.downSince, ok
}

// changesAfter appends to buf about limit writes above the RV that this server
// has heard of, and never a part of what shares an RV. It returns the RV that
// the reader has then seen everything up to, and false if writes above the RV
// are already forgotten.
func (c *cache) changesAfter(t *table, rv uint64, buf []change, limit int) (_ []change, seen uint64, ok bool) {
	s := c.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	if rv < t.lost {
		return buf, rv, false
	}
	at := c.at(t)
	from, to := t.firstAbove(rv), t.firstAbove(at)
	if c.window > 0 && !t.res.Uncached && to-from > c.window {
		return buf, rv, false
	}
	if to <= from {
		// Not below rv: a watch may start in the future.
		return buf, max(rv, at), true
	}
	rest := t.log[from:to]
	more := len(rest) > limit
	if more {
		// Not inside a group that shares an RV: a reader that goes on above it
		// would miss the rest.
		rest = t.log[from:t.firstAbove(rest[limit-1].rv)]
		more = from+len(rest) < to
	}
	for _, r := range rest {
		buf = append(buf, change{r, r.older})
	}
	if more {
		return buf, rest[len(rest)-1].rv, true
	}
	return buf, max(rv, at), true
}

// behind counts the writes above the RV that this server has heard of.
func (c *cache) behind(t *table, rv uint64) int {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	return t.firstAbove(c.at(t)) - t.firstAbove(rv)
}

// current is the RV that this server has heard of.
func (c *cache) current() uint64 {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	return c.rv
}

// waitFor waits until the server has heard of the RV, or for the time given. It
// reports whether it has; on a context that ends first it has not.
func (c *cache) waitFor(ctx context.Context, rv uint64, limit time.Duration) bool {
	mu := &c.store.mu
	mu.Lock()
	c.settle()
	if c.rv >= rv {
		mu.Unlock()
		return true
	}
	reached := make(chan struct{})
	c.waiters[reached] = rv
	mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-reached:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	delete(c.waiters, reached)
	return c.rv >= rv
}
