package informer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
)

// hub holds the event log and the handlers that read it. The apply loop is
// its one writer.
//
// A handler has a goroutine (see worker) only while there is something to tell
// it: an idle handler costs a struct. Its place in the log is a pointer to the segment
// that it took last. When more than its maxLag events wait behind that place,
// the handler gives it up for a view (see view), so that a slow handler holds
// the log back for nobody and no memory grows with the number of events. A
// handler that may miss nothing (Block) makes the apply loop wait instead.
type hub[T metav1.Object] struct {
	store    *indexer.Indexer[T]
	name     string // the informer's
	logger   *slog.Logger
	detector *detector[T] // nil: off
	trace    *Trace       // never nil
	epoch    time.Time
	covers   func(namespace string) bool // is it in the informer's scope? Set once; nil: yes

	tasks    sync.WaitGroup // the workers and the watchdog; Add only under mu and not once stopped
	segments atomic.Uint64  // counts what was published, for those who must know it without mu
	waiting  atomic.Bool    // the apply loop waits for a Block handler
	relief   chan struct{}  // and is told here that one has moved; capacity 1

	// mu guards what follows and the registrations' fields that say so. It is
	// held for bookkeeping only, never while a handler or any other user code
	// runs. Lock order: mu, then the store's own lock.
	mu        sync.Mutex
	tail      *segment[T] // the newest segment; never nil
	logged    uint64      // events logged so far, as segment.end counts them
	published uint64      // the newest commit that the log covers
	regs      []*Registration[T]
	idle      chan *Registration[T] // to the worker that waits for a handler; nil: there is none
	blocking  int                   // how many of regs have the policy Block
	started   bool
	stopped   bool
	synced    bool
	syncedSeq uint64 // the commit that completed the initial list

	watchdog    *time.Timer   // nil while no call need be watched
	watchdogDue time.Duration // when it looks
}

func newHub[T metav1.Object](store *indexer.Indexer[T], name string, logger *slog.Logger, trace *Trace) *hub[T] {
	return &hub[T]{
		store: store, name: name, logger: logger, trace: trace,
		epoch: time.Now(), relief: make(chan struct{}, 1), tail: &segment[T]{},
	}
}

// clock is a cheap monotonic time, which is never 0.
func (h *hub[T]) clock() time.Duration { return time.Since(h.epoch) + 1 }

// publish appends a commit's segment to the log and wakes the handlers. It is
// called by the apply loop, straight after the commit: so the store's state
// is exactly what the log leads to. It reports whether a handler wants the
// apply loop to wait.
func (h *hub[T]) publish(s *segment[T]) (wait bool) {
	s.at = h.clock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logged += s.events()
	s.end = h.logged
	h.tail.next = s
	h.tail = s
	h.published = s.seq
	h.segments.Add(1)
	for _, r := range h.regs {
		switch {
		case r.opts.delivery == Block:
			wait = true
		case r.view == nil && h.logged-r.place.end > uint64(r.opts.maxLag):
			h.fallBehind(r)
		}
		h.wake(r)
	}
	return wait
}

// advance notes a commit that changed no object, such as a bookmark's.
func (h *hub[T]) advance(seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.published = seq
	for _, r := range h.regs {
		if r.replay.owed > 0 {
			h.wake(r)
		}
	}
}

// markSynced notes that the initial list is in the log. Registrations sync
// when they have been told that much.
func (h *hub[T]) markSynced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced, h.syncedSeq = true, h.published
	// An empty segment brings up those whose last one came before: the commit
	// that completes the list may have changed no object.
	end := &segment[T]{seq: h.published, end: h.logged, at: h.clock()}
	h.tail.next = end
	h.tail = end
	for _, r := range h.regs {
		h.settle(r)
		h.wake(r)
	}
}

// settle marks r synced if it has been told the whole initial list. What has
// ended doesn't sync any more: a waiter was told why. h.mu is held.
func (h *hub[T]) settle(r *Registration[T]) {
	if h.synced && r.told >= h.syncedSeq && !r.isSynced && !r.over.Load() {
		r.isSynced = true
		close(r.synced)
		h.startReplays(r)
	}
}

// awaitBlocking returns when no Block handler has more than its maxLag events
// before it, or when ctx ends. The apply loop calls it, between two commits.
func (h *hub[T]) awaitBlocking(ctx context.Context) error {
	for {
		// First the flag, then the look: a call that returns in between sees
		// the flag and signals.
		h.waiting.Store(true)
		if !h.tooFarBehind() {
			h.waiting.Store(false)
			return nil
		}
		select {
		case <-h.relief:
		case <-ctx.Done():
			h.waiting.Store(false)
			return ctx.Err()
		}
	}
}

func (h *hub[T]) tooFarBehind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.blocking > 0 && slices.ContainsFunc(h.regs, func(r *Registration[T]) bool {
		return r.opts.delivery == Block && h.lag(r) > uint64(r.opts.maxLag)
	})
}

// relieve tells the apply loop to look again. It never blocks.
func (h *hub[T]) relieve() {
	select {
	case h.relief <- struct{}{}:
	default: // it has been told, and has not looked yet
	}
}

// lag counts the events in the log that r hasn't been told; for a Latest
// handler those that it has coalesced count once for each key. h.mu is held.
func (h *hub[T]) lag(r *Registration[T]) uint64 {
	if r.opts.delivery == Latest && r.place != nil {
		n := h.logged - r.place.end + uint64(r.waits.len())
		if r.taskAt != 0 {
			n++ // in its hands
		}
		return n
	}
	passed := min(r.delivered.Load()-r.taskCalls, r.taskEvents)
	return h.logged - r.position - passed
}

// add registers r. It is told the whole store first, from a snapshot, which
// pauses nobody.
func (h *hub[T]) add(r *Registration[T]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.lease.check() != nil: // under mu, so that release misses none
		return ErrReleased
	case h.stopped:
		return ErrStopped
	}
	r.view = &view[T]{source: FromList, at: h.clock()}
	r.position = h.logged
	h.regs = append(h.regs, r)
	if r.opts.delivery == Block {
		h.blocking++
	}
	h.wake(r)
	return nil
}

// remove ends a registration: no call starts from here on.
func (h *hub[T]) remove(r *Registration[T], reason error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.regs, r)
	if i < 0 {
		return ErrNotRegistered
	}
	h.regs = slices.Delete(h.regs, i, i+1)
	h.retire(r, reason)
	return nil
}

// release ends the registrations that were made through a lease. None is added
// after it: the lease is over.
func (h *hub[T]) release(l *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.regs = slices.DeleteFunc(h.regs, func(r *Registration[T]) bool {
		if r.lease != l {
			return false
		}
		h.retire(r, ErrReleased)
		return true
	})
}

// retire ends r, which is no longer among regs, and lets go of what it holds.
// h.mu is held.
func (h *hub[T]) retire(r *Registration[T], reason error) {
	r.over.Store(true)
	r.err = reason
	close(r.quit)
	if r.replay.timer != nil {
		r.replay.timer.Stop()
	}
	if r.opts.delivery == Block {
		h.blocking--
		h.relieve()
	}
	if !r.active {
		r.end()
	}
}

// start lets handlers run.
func (h *hub[T]) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started = true
	for _, r := range h.regs {
		h.wake(r)
	}
}

// halt ends all registrations: no call starts from here on.
func (h *hub[T]) halt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	regs := h.regs
	h.regs = nil
	for _, r := range regs {
		h.retire(r, ErrStopped)
	}
	h.dismiss()
	if h.watchdog != nil && h.watchdog.Stop() {
		h.watchdog = nil
		h.tasks.Done()
	}
}

// stop halts, and returns when the last running call has returned.
func (h *hub[T]) stop() {
	h.halt()
	h.tasks.Wait()
}

// status describes the handlers.
func (h *hub[T]) status() []HandlerStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]HandlerStatus, 0, len(h.regs))
	for _, r := range h.regs {
		out = append(out, h.statusOf(r))
	}
	return out
}
