package informer

import (
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
// A handler has a goroutine only while there is something to tell it: an idle
// handler costs a struct. Its place in the log is a pointer to the segment
// that it took last. When more than maxLag events wait behind that place, the
// handler gives it up for a view (see view), so that a slow handler holds the
// log back for nobody and no memory grows with the number of events.
type hub[T metav1.Object] struct {
	store  *indexer.Indexer[T]
	maxLag uint64

	halted atomic.Bool    // set with stopped, read by handler goroutines between two calls
	tasks  sync.WaitGroup // the handler goroutines; Add only under mu and not once stopped

	// mu guards what follows and the registrations' fields that say so. It is
	// held for bookkeeping only, never while a handler or any other user code
	// runs. Lock order: mu, then the store's own lock.
	mu        sync.Mutex
	tail      *segment[T] // the newest segment; never nil
	logged    uint64      // events logged so far, as segment.end counts them
	published uint64      // the newest commit that the log covers
	regs      []*Registration[T]
	started   bool
	stopped   bool
	synced    bool
	syncedSeq uint64 // the commit that completed the initial list
}

func newHub[T metav1.Object](store *indexer.Indexer[T], maxLag int) *hub[T] {
	return &hub[T]{store: store, maxLag: uint64(maxLag), tail: &segment[T]{}}
}

// publish appends a commit's segment to the log and wakes the handlers. It is
// called by the apply loop, straight after the commit: so the store's state
// is exactly what the log leads to.
func (h *hub[T]) publish(s *segment[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logged += s.events()
	s.end = h.logged
	h.tail.next = s
	h.tail = s
	h.published = s.seq
	for _, r := range h.regs {
		if r.view == nil && h.logged-r.place.end > h.maxLag {
			h.fallBehind(r)
		}
		h.wake(r)
	}
}

// advance notes a commit that changed no object, such as a bookmark's.
func (h *hub[T]) advance(seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.published = seq
	for _, r := range h.regs {
		if r.resyncDue {
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
	end := &segment[T]{seq: h.published, end: h.logged}
	h.tail.next = end
	h.tail = end
	for _, r := range h.regs {
		h.settle(r)
		h.wake(r)
	}
}

// settle marks r synced if it has been told the whole initial list.
// h.mu is held.
func (h *hub[T]) settle(r *Registration[T]) {
	if h.synced && r.told >= h.syncedSeq && !r.isSynced {
		r.isSynced = true
		close(r.synced)
		h.scheduleResync(r)
	}
}

// fallBehind takes r off the log: it keeps the state that it has been told,
// as a view, and will get the difference to whatever is current when it comes
// back. h.mu is held.
func (h *hub[T]) fallBehind(r *Registration[T]) {
	v := &view[T]{base: h.store.Snapshot()}
	for s := r.place.next; s != nil; s = s.next {
		if s.seq <= r.taken {
			continue
		}
		switch v.source {
		case 0, s.source:
			v.source = s.source
		default:
			v.source = FromWatch // of several, the one that is always true: it missed live events
		}
		for c := range s.all() {
			v.owe(c)
		}
	}
	r.view, r.place = v, nil
	r.fallen++
}

// wake makes sure that r's goroutine runs. h.mu is held.
func (h *hub[T]) wake(r *Registration[T]) {
	if r.active || !h.started || h.stopped || r.removed.Load() {
		return
	}
	r.active = true
	h.tasks.Add(1)
	go r.run()
}

// next returns what to tell r next. When there is nothing it returns false,
// and r's goroutine ends: from then on wake may start another.
func (h *hub[T]) next(r *Registration[T]) (task[T], bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.pick(r)
	if !ok {
		r.active = false
		if h.stopped || r.removed.Load() {
			r.end()
		}
	}
	return t, ok
}

// pick chooses r's next task: what it missed first, then the log, then a
// resync. h.mu is held.
func (h *hub[T]) pick(r *Registration[T]) (task[T], bool) {
	for {
		switch {
		case h.stopped || r.removed.Load():
			return task[T]{}, false

		case r.view != nil:
			// The place first, then the snapshot: a commit that falls between
			// is in the snapshot and, by its sequence number, skipped in the log.
			v := r.view
			r.view, r.place = nil, h.tail
			now := h.store.Snapshot()
			r.taken = now.Sequence()
			return task[T]{seq: r.taken, source: v.source, changes: v.diff(now), initial: !r.isSynced}, true

		case r.place.next != nil:
			r.place = r.place.next
			if r.place.seq <= r.taken {
				continue
			}
			r.taken = r.place.seq
			return task[T]{seq: r.taken, source: r.place.source, changes: r.place.all(), initial: !r.isSynced}, true

		case r.resyncDue:
			now := h.store.Snapshot()
			if now.Sequence() != h.published {
				// A commit is on its way to the log, and its arrival wakes r. A
				// replay now would tell its objects ahead of their events.
				return task[T]{}, false
			}
			r.resyncDue = false
			return task[T]{seq: r.taken, source: FromResync, replay: now}, true

		default:
			return task[T]{}, false
		}
	}
}

// finish notes that r has been told a task in full.
func (h *hub[T]) finish(r *Registration[T], t task[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.told = max(r.told, t.seq)
	h.settle(r)
	if t.replay != nil {
		h.scheduleResync(r)
	}
}

// abandon ends a registration whose handler did not return from a call.
func (h *hub[T]) abandon(r *Registration[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.active = false
	h.regs = slices.DeleteFunc(h.regs, func(have *Registration[T]) bool { return have == r })
	h.retire(r)
}

// scheduleResync sets r's timer for the next replay. h.mu is held.
func (h *hub[T]) scheduleResync(r *Registration[T]) {
	if r.resync <= 0 || h.stopped || r.removed.Load() {
		return
	}
	r.timer = time.AfterFunc(r.resync, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		r.resyncDue = true
		h.wake(r)
	})
}

// add registers r. It is told the whole store first, from a snapshot, which
// pauses nobody.
func (h *hub[T]) add(r *Registration[T]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return ErrStopped
	}
	r.view = &view[T]{source: FromList}
	h.regs = append(h.regs, r)
	h.wake(r)
	return nil
}

// remove ends a registration: no call starts from here on.
func (h *hub[T]) remove(r *Registration[T]) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.regs, r)
	if i < 0 {
		return ErrNotRegistered
	}
	h.regs = slices.Delete(h.regs, i, i+1)
	h.retire(r)
	return nil
}

// retire lets go of all that r holds. h.mu is held.
func (h *hub[T]) retire(r *Registration[T]) {
	r.removed.Store(true)
	if r.timer != nil {
		r.timer.Stop()
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

// stop ends all registrations and returns when the last running call has
// returned.
func (h *hub[T]) stop() {
	h.mu.Lock()
	h.stopped = true
	h.halted.Store(true)
	regs := h.regs
	h.regs = nil
	for _, r := range regs {
		h.retire(r)
	}
	h.mu.Unlock()
	h.tasks.Wait()
}

// status describes the handlers.
func (h *hub[T]) status() []HandlerStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]HandlerStatus, 0, len(h.regs))
	for _, r := range h.regs {
		s := HandlerStatus{
			Name:       r.name,
			Synced:     r.isSynced,
			Delivered:  r.delivered.Load(),
			FellBehind: r.fallen,
			Detached:   r.view != nil,
		}
		if r.place != nil {
			s.Lag = h.logged - r.place.end
		}
		out = append(out, s)
	}
	return out
}
