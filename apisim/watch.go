package apisim

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	// A watch without timeoutSeconds ends after one to two times this.
	minWatchTimeout = 30 * time.Minute
	// lastBookmark is sent this long before the deadline.
	lastBookmark = 2 * time.Second
	// slowGrace is how long one write to a client may block before the client
	// counts as slow.
	slowGrace = 100 * time.Millisecond
	// watchBatch is how many changes are read from the log at a time.
	watchBatch = 256
)

// watcher is one open watch. Its handler goroutine owns it; other goroutines
// only call signal and stop. It has no queue of its own: it reads the
// resource's log from where it stands, so a slow client costs no memory.
type watcher struct {
	wake chan struct{} // holds one token: there may be something new
	done chan struct{} // closed by CloseWatches and Restart, under store.mu
	cut  bool          // the end is a broken connection; set before done is closed
}

func newWatcher() *watcher {
	return &watcher{wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// wasCut reports an end that the client is to see as a broken connection.
func (w *watcher) wasCut() bool {
	select {
	case <-w.done:
		return w.cut
	default:
		return false
	}
}

// watchStart is where a watch begins.
type watchStart struct {
	state []*revision // what exists, if asked for
	rv    uint64      // changes above it follow
	// caughtUp is the RV that the watch is at once it has sent what had been
	// written before it began.
	caughtUp uint64
}

// startWatch registers a watcher and, in the same instant, reads the state or
// checks the window, so that nothing falls in between.
func (c *cache) startWatch(t *table, w *watcher, q *listQuery, rv uint64) (watchStart, error) {
	if q.initialEvents() {
		// The registration comes first: a write between it and the scan is in the
		// state, has an RV not above the state's, and is not sent again.
		c.register(t, w)
		p := c.store.scan(t, scanRequest{selector: q.selector, cache: c})
		return watchStart{state: p.items, rv: p.rv, caughtUp: p.rv}, nil
	}
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	switch floor := c.floor(t); {
	case q.ResourceVersion == "":
		rv = s.rv
	case q.ResourceVersion == "0":
		rv = c.at(t)
	case rv < floor && t.res.Uncached:
		return watchStart{}, expiredWatch()
	case rv < floor:
		return watchStart{}, tooOld(rv, floor)
	}
	start := watchStart{rv: rv, caughtUp: rv}
	if n := t.firstAbove(c.at(t)); n > 0 {
		start.caughtUp = max(rv, t.log[n-1].rv)
	}
	c.tables[t].watchers[w] = struct{}{}
	return start, nil
}

func (c *cache) register(t *table, w *watcher) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.tables[t].watchers[w] = struct{}{}
}

func (c *cache) stopWatch(t *table, w *watcher) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	delete(c.tables[t].watchers, w)
}

func (c *cache) closeWatches(cut bool) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.closeAll(cut)
}

func (c *cache) closeAll(cut bool) {
	for _, t := range c.tables {
		for w := range t.watchers {
			w.cut = cut
			close(w.done)
			delete(t.watchers, w)
		}
	}
}

// serveWatch answers a watch. Whatever fails after the query was understood is
// told in the stream, as an ERROR event that ends it.
func (s *Server) serveWatch(rw http.ResponseWriter, r *http.Request, t *table, q listQuery) {
	opened := time.Now()
	enc, ok := negotiate(r.Header.Get("Accept"), t.res.offers, "PartialObjectMetadata")
	if !ok {
		writeError(rw, r, notAcceptable(t.res.mediaTypes(true)))
		return
	}
	rv, err := parseRV(q.ResourceVersion)
	if err != nil {
		// The real server takes this for its own failure, without a reason.
		writeError(rw, r, statusError(http.StatusInternalServerError, "", err.Error()))
		return
	}
	timeout := minWatchTimeout + rand.N(minWatchTimeout)
	if q.TimeoutSeconds != nil && *q.TimeoutSeconds != 0 {
		timeout = time.Duration(min(max(*q.TimeoutSeconds, 0), 1<<31)) * time.Second
	}
	ctx, cancel := context.WithDeadline(r.Context(), opened.Add(timeout))
	defer cancel()

	if !t.res.Uncached {
		if err := s.notReady(); err != nil {
			writeError(rw, r, err)
			return
		}
	}
	if q.initialEvents() {
		if q.ResourceVersion == "" {
			rv = s.store.current()
		}
		err = s.waitFor(ctx, t, rv)
	}
	out := s.newWatchWriter(rw, r, &t.res, enc, q.watchList())
	if enc == encTable {
		form, bad := newTableForm(r, &t.res)
		if bad != nil {
			writeError(rw, r, bad)
			return
		}
		out.table = form
	}
	defer out.close()
	if err == nil {
		w := newWatcher()
		var start watchStart
		if start, err = s.cache.startWatch(t, w, &q, rv); err == nil {
			defer s.cache.stopWatch(t, w)
			out.begin()
			s.stream(ctx, w, t, &q, start, out, opened.Add(timeout))
			if w.wasCut() {
				panic(http.ErrAbortHandler)
			}
			return
		}
	}
	out.begin()
	if ctx.Err() == nil { // otherwise the deadline came first
		out.error(err)
		out.flush()
	}
}

// stream sends the initial state, if asked for, and then every change above
// its RV, each once, in order, until the client, the deadline or the server
// ends it. An end is always a clean one.
func (s *Server) stream(ctx context.Context, w *watcher, t *table, q *listQuery, start watchStart, out *watchWriter, deadline time.Time) {
	if q.initialEvents() {
		for _, r := range start.state {
			if !out.event(typeAdded, &r.body) || ended(ctx, w) {
				return
			}
		}
		start.state = nil // a watch lives long; it must not keep old versions
		if q.AllowWatchBookmarks {
			out.bookmark(start.rv, true)
		}
		out.flush()
	}

	seen := start.rv
	bookmarks := newBookmarkClock(s.bookmarkInterval, deadline, q.AllowWatchBookmarks && !t.res.Uncached)
	defer bookmarks.stop()
	var batch []change
	bookmarkDue := false
	for {
		var ok bool
		batch, seen, ok = s.cache.changesAfter(t, seen, batch[:0], watchBatch)
		if !ok {
			return // fell out of the window
		}
		for _, c := range batch {
			if !q.sendChange(out, c) {
				return
			}
		}
		full := len(batch) >= watchBatch
		clear(batch)
		if bookmarkDue && !full {
			if seen > start.caughtUp {
				out.bookmark(seen, false)
			}
			bookmarks.next()
			bookmarkDue = false
		}
		if out.flush(); out.err != nil || ended(ctx, w) {
			return
		}
		if out.takeBlocked() > slowGrace && s.cache.behind(t, seen) > s.watchBuffer {
			return // too slow: what it got is a prefix without gaps
		}
		if full {
			continue
		}
		select {
		case <-w.wake:
		case <-bookmarks.due():
			bookmarkDue = true
		case <-w.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendChange sends what a change means to this watch; it reports false if the
// stream is broken.
func (q *listQuery) sendChange(out *watchWriter, c change) bool {
	now, before := q.matches(c.rev), q.matches(c.prev)
	switch {
	case now && before:
		return out.event(typeModified, &c.rev.body)
	case now:
		return out.event(typeAdded, &c.rev.body)
	case before && c.rev.deleted:
		return out.event(typeDeleted, &c.rev.body)
	case before:
		return out.event(typeDeleted, c.rev.exit(c.prev))
	}
	return true
}

func ended(ctx context.Context, w *watcher) bool {
	select {
	case <-ctx.Done():
	case <-w.done:
	default:
		return false
	}
	return true
}

// bookmarkClock says when the next bookmark is due: once every interval, and
// shortly before the deadline.
type bookmarkClock struct {
	interval time.Duration
	deadline time.Time
	timer    *time.Timer // nil: never
}

func newBookmarkClock(interval time.Duration, deadline time.Time, on bool) *bookmarkClock {
	c := &bookmarkClock{interval: interval, deadline: deadline}
	if on {
		c.next()
	}
	return c
}

// next schedules the bookmark after this one.
func (c *bookmarkClock) next() {
	c.stop()
	wait := min(c.interval, time.Until(c.deadline)-lastBookmark)
	if wait <= 0 {
		c.timer = nil
		return
	}
	c.timer = time.NewTimer(wait)
}

func (c *bookmarkClock) due() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

func (c *bookmarkClock) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}
