package informer

import (
	"time"
)

// slowCall is a call that has taken too long, as it is to be logged.
type slowCall struct {
	handler, key string
	running      time.Duration
}

// watch makes sure that the watchdog looks at the handlers' calls in d or
// sooner. One timer serves all handlers: a call costs no timer of its own.
// h.mu is held.
func (h *hub[T]) watch(d time.Duration) {
	if d <= 0 || h.stopped || h.watchdog != nil && h.watchdogDue <= h.clock()+d {
		return
	}
	if h.watchdog != nil {
		if !h.watchdog.Stop() {
			return // it is about to look
		}
		h.tasks.Done()
	}
	h.tasks.Add(1)
	h.watchdogDue = h.clock() + d
	h.watchdog = time.AfterFunc(d, h.bark)
}

// watchAgain is called by a handler whose call was reported and has returned:
// nobody looks after its next ones.
func (h *hub[T]) watchAgain(r *Registration[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.overdue.Store(false)
	h.watch(r.opts.slowCall)
}

// bark logs the calls that take too long, each once. hub.tasks counts it.
func (h *hub[T]) bark() {
	defer h.tasks.Done()
	for _, c := range h.slowCalls() {
		h.logger.Warn("a handler's call takes long; its next events wait",
			"informer", h.name, "handler", c.handler, "key", c.key, "running", c.running)
	}
}

// slowCalls finds the calls to report and sets the watchdog for the next ones.
func (h *hub[T]) slowCalls() (found []slowCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchdog = nil
	now := h.clock()
	next := time.Duration(0)
	for _, r := range h.regs {
		if r.opts.slowCall <= 0 || !r.active {
			continue
		}
		began := r.began.Load()
		if began != 0 && began == r.warned {
			continue // watchAgain will say when it is over
		}
		left := r.opts.slowCall // a call that is just about to begin
		if began != 0 {
			left -= now - time.Duration(began)
		}
		if left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		r.warned = began
		r.slow++
		r.overdue.Store(true)
		c := slowCall{handler: r.opts.name, running: now - time.Duration(began)}
		if item := r.subject.Load(); item != nil {
			c.key = item.Key.String()
		}
		found = append(found, c)
	}
	h.watch(next)
	return found
}

// statusOf describes a handler. h.mu is held.
func (h *hub[T]) statusOf(r *Registration[T]) HandlerStatus {
	now := h.clock()
	s := HandlerStatus{
		Name:           r.opts.name,
		Delivery:       r.opts.delivery,
		Synced:         r.isSynced,
		Delivered:      r.delivered.Load(),
		Lag:            h.lag(r),
		Detached:       r.view != nil || r.catchingUp,
		FellBehind:     r.fallen,
		LastCall:       time.Duration(r.lasted.Load()),
		SlowCalls:      r.slow,
		Panics:         r.panics.Load(),
		LastPanic:      r.lastPanic.Load(),
		ReplaysDropped: r.replay.dropped,
		Err:            r.err,
	}
	if r.hasEnded {
		s.Lag, s.Detached = 0, false
		return s
	}
	if at := r.oldest(); at != 0 {
		s.Oldest = now - at
	}
	if began := r.began.Load(); began != 0 && r.active {
		s.Running = now - time.Duration(began)
		if item := r.subject.Load(); item != nil {
			s.RunningKey = item.Key
		}
	}
	return s
}

// oldest is since when the oldest thing that r hasn't been told waits; 0 when
// nothing does. hub.mu is held.
func (r *Registration[T]) oldest() time.Duration {
	switch {
	case r.taskAt != 0:
		return r.taskAt
	case r.view != nil:
		return r.view.at
	case r.waits.first != nil:
		return r.waits.first.at
	case r.place != nil:
		for s := r.place.next; s != nil; s = s.next {
			if s.seq > r.taken {
				return s.at
			}
		}
	}
	return 0
}
