package informer

// A worker is a goroutine of the hub that tells handlers, one at a time, for as
// long as there is something to tell. An idle handler has none. One idle worker
// is kept, since most events come one by one, and a new goroutine for each of
// them has to grow its stack anew before it is in the handler's code.

// wake makes sure that a worker tells r. h.mu is held.
func (h *hub[T]) wake(r *Registration[T]) {
	if r.active || !h.started || h.stopped || r.over.Load() {
		return
	}
	r.active = true
	h.watch(r.opts.slowCall)
	if h.idle != nil {
		h.idle <- r // has room, and is given one only
		h.idle = nil
		return
	}
	h.tasks.Add(1)
	go h.work(r)
}

// work is a worker, which begins with r. hub.tasks counts it.
func (h *hub[T]) work(r *Registration[T]) {
	defer h.tasks.Done() // also when a handler ends the goroutine
	next := make(chan *Registration[T], 1)
	for ok := true; ok; r, ok = <-next {
		r.run()
		if !h.keep(next) {
			return
		}
	}
}

// keep makes a worker the one that is kept: next brings what it does then, or
// is closed. It returns false when there is one already, or none is wanted any
// more.
func (h *hub[T]) keep(next chan *Registration[T]) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped || h.idle != nil {
		return false
	}
	h.idle = next
	return true
}

// dismiss ends the worker that is kept, for good: h.stopped is set. h.mu is held.
func (h *hub[T]) dismiss() {
	if h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}
