package informer

import (
	"iter"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
)

// Registration is a handler's place at an informer. It is returned by
// [Informer.AddEventHandler] and says how far the handler has come.
type Registration[T metav1.Object] struct {
	hub     *hub[T]
	handler EventHandler[T]
	name    string
	resync  time.Duration

	synced    chan struct{} // closed when isSynced turns true
	ended     chan struct{} // closed when no call runs and none will
	removed   atomic.Bool   // written under hub.mu, read by run between two calls
	delivered atomic.Uint64 // calls that returned

	// All below is guarded by hub.mu. Exactly one of view and place is set.
	view      *view[T]    // what the handler was told, while it doesn't follow the log
	place     *segment[T] // the segment taken last
	taken     uint64      // commits up to here have been handed to run
	told      uint64      // and up to here the handler's calls have returned
	fallen    uint64      // times that it gave up its place
	active    bool        // run has a goroutine
	isSynced  bool
	isEnded   bool
	resyncDue bool
	timer     *time.Timer
}

// HandlerOption changes how a handler is registered.
type HandlerOption func(*handlerOptions)

type handlerOptions struct {
	name   string
	resync time.Duration
}

// WithName names the handler in [Status] and in warnings. The default is its
// type.
func WithName(name string) HandlerOption {
	return func(o *handlerOptions) { o.name = name }
}

// WithHandlerResync replays the store to this handler every d, as events from
// [FromResync]; 0 turns it off. It overrides [Options.Resync]. A resync asks
// the server nothing: it repeats what the handler has been told.
func WithHandlerResync(d time.Duration) HandlerOption {
	return func(o *handlerOptions) { o.resync = d }
}

// HasSynced reports whether the handler's call for the last object of the
// initial list has returned.
func (r *Registration[T]) HasSynced() bool {
	select {
	case <-r.synced:
		return true
	default:
		return false
	}
}

// Synced is closed when HasSynced turns true. It stays open for ever when the
// handler is removed, or the informer stops, before that: wait for Done too.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// Done is closed when the handler has been removed or the informer has
// stopped, and the handler's last call has returned.
func (r *Registration[T]) Done() <-chan struct{} { return r.ended }

// task is one piece of work for a handler's goroutine: changes to tell, or a
// store to replay.
type task[T metav1.Object] struct {
	seq     uint64 // when the task is done, the handler has been told this commit
	source  Source
	initial bool
	changes iter.Seq[indexer.Change[T]]
	replay  *indexer.Snapshot[T]
}

// run tells the handler what there is to tell, then ends. hub.wake starts it,
// one at a time; hub.tasks counts it.
func (r *Registration[T]) run() {
	defer r.hub.tasks.Done()
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
		if r.tell(t) {
			r.hub.finish(r, t)
		}
	}
	returned = true
}

// tell makes the calls of one task; false when it was interrupted by the end
// of the registration.
func (r *Registration[T]) tell(t task[T]) bool {
	if t.replay != nil {
		for item := range t.replay.Items() {
			if !r.call(replayEvent(item)) {
				return false
			}
		}
		return true
	}
	for c := range t.changes {
		if !r.call(changeEvent(c, t.source, t.initial)) {
			return false
		}
	}
	return true
}

func (r *Registration[T]) call(e Event[T]) bool {
	if r.removed.Load() || r.hub.halted.Load() {
		return false
	}
	r.handler.HandleEvent(e)
	r.delivered.Add(1)
	return true
}

// end marks that no call will come any more, and lets go of the log.
// hub.mu is held.
func (r *Registration[T]) end() {
	if !r.isEnded {
		r.isEnded = true
		r.view, r.place = nil, nil
		close(r.ended)
	}
}
