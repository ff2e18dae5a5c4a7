package informer

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// Registration is a handler's place at an informer. It is returned by
// [Informer.AddEventHandler] and says how far the handler has come. All its
// methods may be called at any time, by the handler too.
type Registration[T metav1.Object] struct {
	hub     *hub[T]
	handler EventHandler[T]
	opts    handlerOptions
	lease   *lease // through which it was made

	synced chan struct{} // closed when isSynced turns true
	quit   chan struct{} // closed when over turns true
	ended  chan struct{} // closed when no call runs and none will
	over   atomic.Bool   // no call starts any more; written under hub.mu

	// Written by run, around each call.
	delivered atomic.Uint64 // calls that returned, or panicked
	panics    atomic.Uint64
	lastPanic atomic.Pointer[HandlerPanic]
	began     atomic.Int64 // when the running call began, by the hub's clock; 0: none runs
	lasted    atomic.Int64 // how long the last one took, in ns
	subject   atomic.Pointer[object.Item[T]]
	overdue   atomic.Bool // set by the watchdog: the running call has been reported

	// All below is guarded by hub.mu. Exactly one of view and place is set.
	view  *view[T]    // what the handler was told, while it doesn't follow the log
	place *segment[T] // the segment taken last
	waits pending[T]  // Latest only: taken from the log, and not told yet
	taken uint64      // commits up to here have been handed to run, or are in waits
	told  uint64      // and up to here the handler's calls have returned

	// The present task's place in the log: it began at position, when taskCalls
	// calls had been made, and is to pass taskEvents of the log's events.
	position, taskCalls, taskEvents uint64
	taskAt                          time.Duration // since when it waits; 0: there is none
	catchingUp                      bool          // it is the difference of two states

	fallen   uint64 // times that it gave up its place
	slow     uint64 // calls that were reported
	warned   int64  // began of the last one of those
	replay   replay
	active   bool // a worker has it
	isSynced bool
	hasEnded bool
	err      error // why it is over
}

func newRegistration[T metav1.Object](h *hub[T], handler EventHandler[T], opts handlerOptions) *Registration[T] {
	return &Registration[T]{
		hub: h, handler: handler, opts: opts,
		synced: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}),
	}
}

// HasSynced reports whether the handler's call for the last object of the
// initial list has returned. It stays false when the registration ends before
// that: see WaitForSync.
func (r *Registration[T]) HasSynced() bool {
	select {
	case <-r.synced:
		return true
	default:
		return false
	}
}

// Synced is closed when HasSynced turns true. It stays open for ever when the
// handler is removed, or the informer stops, before that. WaitForSync ends in
// those cases too.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// WaitForSync returns nil once the handler has synced. When ctx ends first, or
// the handler is removed, or the informer stops, it returns a
// [*HandlerNotSyncedError], at once and also while a call of the handler hangs.
// A handler that waits for itself waits until ctx ends.
func (r *Registration[T]) WaitForSync(ctx context.Context) error {
	err := error(nil)
	select {
	case <-r.synced:
		return nil
	default:
	}
	select {
	case <-r.synced:
		return nil
	case <-r.quit:
		err = r.Err()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if r.HasSynced() { // both, and chance chose the other
		return nil
	}
	return &HandlerNotSyncedError{Status: r.Status(), Err: err}
}

// Done is closed when the handler has been removed or the informer has
// stopped, and the handler's last call has returned. Err says which.
func (r *Registration[T]) Done() <-chan struct{} { return r.ended }

// Err returns nil while the handler is registered, and then why it isn't any
// more: [ErrHandlerRemoved], [ErrReleased], [ErrStopped] or [ErrHandlerExited].
func (r *Registration[T]) Err() error {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.err
}

// Status describes the handler at this moment, also after its end.
func (r *Registration[T]) Status() HandlerStatus {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.hub.statusOf(r)
}

// run tells the handler what there is to tell, then returns. hub.wake has a
// worker call it, one at a time.
func (r *Registration[T]) run() {
	returned := false
	defer func() {
		if !returned {
			// The handler called runtime.Goexit (or it panics, and the process
			// ends). What it has taken in is unknown, so it is told no more.
			r.hub.abandon(r)
		}
	}()
	for {
		t, ok := r.hub.next(r)
		if !ok {
			break
		}
		r.began.Store(int64(r.hub.clock()))
		done := r.tell(t)
		r.began.Store(0)
		if done {
			r.hub.finish(r, t)
		}
	}
	returned = true
}

// tell makes the calls of one task; false when it was interrupted by the end
// of the registration.
func (r *Registration[T]) tell(t task[T]) bool {
	switch {
	case t.replay != nil:
		return r.tellReplay(t)
	case t.diff != nil:
		return r.tellDiff(t)
	}
	for i := range t.changes {
		if !r.change(&t, t.changes[i]) {
			return false
		}
	}
	return true
}

// tellDiff is apart from tell, whose task need not leave the stack.
func (r *Registration[T]) tellDiff(t task[T]) bool {
	if r.opts.delivery == Latest {
		for c := range t.diff {
			for _, c := range r.hub.newest(r, c) {
				if !r.change(&t, c) {
					return false
				}
			}
		}
		return true
	}
	for c := range t.diff {
		if !r.change(&t, c) {
			return false
		}
	}
	return true
}

func (r *Registration[T]) change(t *task[T], c indexer.Change[T]) bool {
	if c.Type == indexer.Deleted && c.Cause == 0 && c.Final == nil && r.hub.covers != nil && !r.hub.covers(c.Old.Key.Namespace) {
		// The handler was behind when the namespace was removed.
		c.Cause = uint8(OutOfScope)
	}
	subject := c.New
	if subject == nil {
		subject = c.Old
	}
	return r.call(changeEvent(&c, t.source, t.initial), subject, t.at)
}

// call makes one call, about something that has waited since at, unless the
// registration has ended.
func (r *Registration[T]) call(e Event[T], subject *object.Item[T], at time.Duration) bool {
	if r.over.Load() {
		return false
	}
	r.subject.Store(subject)
	if trace := r.hub.trace; trace.Delivering != nil || trace.Returned != nil {
		r.tracedCall(&e, at)
	} else {
		r.invoke(e)
	}
	r.delivered.Add(1)
	now := int64(r.hub.clock())
	r.lasted.Store(now - r.began.Swap(now)) // the next call begins where this one ends
	if r.overdue.Load() {
		r.hub.watchAgain(r)
	}
	if r.opts.delivery == Block && r.hub.waiting.Load() {
		r.hub.relieve()
	}
	if d := r.hub.detector; d != nil {
		d.told(subject, r.opts.name)
	}
	return true
}

// invoke calls the handler. It returns the panic if that was isolated.
func (r *Registration[T]) invoke(e Event[T]) *HandlerPanic {
	if r.opts.panics == IsolatePanics {
		return r.isolated(e)
	}
	r.handler.HandleEvent(e)
	return nil
}

// end marks that no call will come any more, and lets go of the log.
// hub.mu is held.
func (r *Registration[T]) end() {
	if !r.hasEnded {
		r.hasEnded = true
		r.view, r.place, r.waits = nil, nil, pending[T]{}
		close(r.ended)
	}
}
