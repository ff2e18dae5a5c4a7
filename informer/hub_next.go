package informer

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// task is one piece of work for a handler. One of changes, diff
// and replay is set.
type task[T metav1.Object] struct {
	seq     uint64 // when the task is done, the handler has been told this commit
	source  Source
	initial bool

	at time.Duration // since when it waits; 0: a replay

	changes []indexer.Change[T]
	diff    iter.Seq[indexer.Change[T]]
	replay  *indexer.Snapshot[T]

	// Of a replay: where it goes on, how many objects it is to tell, and what
	// had been published when it was made.
	after    object.Key
	count    int
	segments uint64
}

// next returns what to tell r next. When there is nothing it returns false,
// and r's worker leaves it: from then on wake may give it another.
func (h *hub[T]) next(r *Registration[T]) (task[T], bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.pick(r)
	if !ok {
		r.active = false
		r.subject.Store(nil)
		if h.stopped || r.over.Load() {
			r.end()
		}
	}
	return t, ok
}

// pick chooses r's next task: what it missed first, then the log, then a
// replay. h.mu is held.
func (h *hub[T]) pick(r *Registration[T]) (task[T], bool) {
	for {
		if h.stopped || r.over.Load() {
			return task[T]{}, false
		}
		if r.opts.delivery == Latest && r.view == nil {
			h.absorb(r)
		}
		switch {
		case r.view != nil:
			// The place first, then the snapshot: a commit that falls between
			// is in the snapshot and, by its sequence number, skipped in the log.
			v := r.view
			r.view, r.place = nil, h.tail
			now := h.store.Snapshot()
			r.taken = now.Sequence()
			h.begin(r, h.tail.end, 0, v.at)
			r.catchingUp = true
			return task[T]{seq: r.taken, at: v.at, source: v.source, diff: v.diff(now), initial: !r.isSynced}, true

		case r.waits.first != nil: // Latest
			e := r.waits.first
			r.waits.remove(e)
			list := steps(e.told, e.now, e.end)
			if len(list) == 0 {
				continue // back at what the handler knows
			}
			h.begin(r, r.place.end, 0, e.at)
			return task[T]{seq: h.toldUpTo(r), at: e.at, source: e.source, changes: list, initial: !r.isSynced}, true

		case r.place.next != nil: // Elastic and Block; absorb leaves none to Latest
			s := r.place.next
			r.place = s
			if s.seq <= r.taken {
				continue
			}
			r.taken = s.seq
			h.begin(r, s.end-s.events(), s.events(), s.at)
			t := task[T]{seq: r.taken, at: s.at, source: s.source, changes: s.changes, initial: !r.isSynced}
			if s.isList() {
				t.diff = s.all()
			}
			return t, true
		}
		h.begin(r, r.place.end, 0, 0)
		r.told = max(r.told, r.taken)
		h.settle(r)
		return h.pickReplay(r)
	}
}

// begin notes what r is about to be told: events of the log from position on,
// which has waited since at. h.mu is held.
func (h *hub[T]) begin(r *Registration[T], position, events uint64, at time.Duration) {
	r.position, r.taskEvents, r.taskCalls = position, events, r.delivered.Load()
	r.taskAt = at
	r.catchingUp = false
}

// finish notes that r has been told a task in full. h.mu is not held.
func (h *hub[T]) finish(r *Registration[T], t task[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.replay != nil {
		return
	}
	h.begin(r, r.position+r.taskEvents, 0, 0)
	r.told = max(r.told, t.seq)
	h.settle(r)
	if r.opts.delivery == Block && h.waiting.Load() {
		h.relieve()
	}
}

// fallBehind takes r off the log: it keeps the state that it has been told,
// as a view, and will get the difference to whatever is current when it comes
// back. The apply loop calls it, after a commit: so the store is where the log
// ends. h.mu is held.
func (h *hub[T]) fallBehind(r *Registration[T]) {
	v := h.leaveLog(r)
	if v.base == nil {
		v.base = h.store.Snapshot()
	}
	r.fallen++
}

// leaveLog makes r's view, up to the end of the log or to the first list in
// it. What comes after that list is found by comparing with the state before
// it, so a list is never gone through under the lock. h.mu is held.
func (h *hub[T]) leaveLog(r *Registration[T]) *view[T] {
	v := &view[T]{owed: r.waits, at: r.place.at}
	if first := r.waits.first; first != nil {
		v.at, v.source = first.at, first.source
	}
	for s := r.place.next; s != nil; s = s.next {
		if s.seq <= r.taken || s.events() == 0 {
			continue
		}
		if v.source == 0 {
			v.at, v.source = s.at, s.source
		}
		v.source = both(v.source, s.source)
		switch {
		case v.base != nil:
		case s.isList():
			v.base = s.before
		default:
			for _, c := range s.changes {
				v.owed.note(c, s)
			}
		}
	}
	r.view, r.place, r.waits = v, nil, pending[T]{}
	return v
}

// absorb moves what the log has for a Latest handler into what waits for it,
// key by key. At a list the handler leaves the log for a view. h.mu is held.
func (h *hub[T]) absorb(r *Registration[T]) {
	for s := r.place.next; s != nil; s = s.next {
		if s.seq > r.taken {
			if s.isList() {
				h.leaveLog(r)
				return
			}
			for _, c := range s.changes {
				r.waits.note(c, s)
			}
			r.taken = s.seq
		}
		r.place = s
	}
}

// toldUpTo is the newest commit that a Latest handler has been told whole once
// its present task is done: all before the first key that still waits. h.mu is
// held.
func (h *hub[T]) toldUpTo(r *Registration[T]) uint64 {
	if e := r.waits.first; e != nil {
		return e.seq - 1
	}
	return r.taken
}

// newest brings a change that a Latest handler is about to be told, as part of
// a difference, up to what is newest by now. h.mu is not held.
//
// A deletion is told as it is: what may have followed it under the same key
// waits its turn, or is the difference's next step.
func (h *hub[T]) newest(r *Registration[T], c indexer.Change[T]) []indexer.Change[T] {
	if c.New == nil {
		return []indexer.Change[T]{c}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.view == nil && r.place != nil {
		h.absorb(r)
	}
	e := r.waits.byKey[c.New.Key]
	if e == nil {
		return []indexer.Change[T]{c}
	}
	r.waits.remove(e)
	return steps(c.Old, e.now, e.end)
}
