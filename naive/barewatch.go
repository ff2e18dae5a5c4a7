package naive

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// BareWatch is the wrong way, for learning: it opens a watch from no version,
// believes each event, and when the watch ends opens the next one in the same
// way. The package comment lists what it loses (B1 to B6).
//
// It has no HasSynced, since it can't know. Apart from Run, its methods may be
// called at any time, by any goroutine, the handler's included.
type BareWatch[T metav1.Object] struct {
	source  reflector.Source[T]
	handler informer.EventHandler[T]
	pause   time.Duration

	started atomic.Bool

	mu      sync.Mutex // guards what follows; never held during a handler's call
	state   State[T]
	watches int
	lastErr error
}

// NewBareWatch makes a bare watch. It does nothing before Run. The pause
// between one watch and the next is 1 s if 0.
func NewBareWatch[T metav1.Object](source reflector.Source[T], handler informer.EventHandler[T], pause time.Duration) *BareWatch[T] {
	if pause <= 0 {
		pause = time.Second
	}
	return &BareWatch[T]{source: source, handler: handler, pause: pause, state: State[T]{}}
}

// Run watches until ctx ends; it returns nil then. It may be called once; after
// that it returns [ErrAlreadyRun]. The handler is called by Run's goroutine, with
// the server's word for what happened: Added for what the map holds already, too.
func (w *BareWatch[T]) Run(ctx context.Context) error {
	if !w.started.CompareAndSwap(false, true) {
		return ErrAlreadyRun
	}
	for {
		err := w.watch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		w.mu.Lock()
		w.lastErr = err
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.pause):
		}
	}
}

// watch opens one watch and takes its events until it ends.
func (w *BareWatch[T]) watch(ctx context.Context) error {
	w.mu.Lock()
	w.watches++
	w.mu.Unlock()
	// Wrong: no version. What happened since the last event seen is not asked
	// for (B1 to B4), and everything that exists is sent once more (B6).
	stream, err := w.source.Watch(ctx, reflector.WatchOptions{})
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		ev, err := stream.Next()
		if err != nil || ctx.Err() != nil {
			return err
		}
		w.take(ev)
	}
}

// take believes one event.
func (w *BareWatch[T]) take(ev reflector.Event[T]) {
	e := informer.Event[T]{
		Source: informer.FromWatch,
		Key:    ev.Item.Key, UID: ev.Item.UID, ResourceVersion: ev.Item.ResourceVersion,
	}
	w.mu.Lock()
	was := w.state[e.Key]
	switch {
	case ev.Type == reflector.Added && ev.Quarantined == nil:
		// Wrong: Added is the first word of this watch about the object, not
		// the first word ever (B2, B4).
		e.Type, e.New = informer.Added, ev.Item.Object
		w.state[e.Key] = ev.Item
	case ev.Type == reflector.Modified && ev.Quarantined == nil:
		e.Type, e.New = informer.Updated, ev.Item.Object
		e.Old, e.OldResourceVersion = was.Object, was.ResourceVersion
		w.state[e.Key] = ev.Item
	case ev.Type == reflector.Deleted:
		e.Type, e.OldResourceVersion = informer.Deleted, was.ResourceVersion
		e.Old, e.FinalStateKnown = ev.Item.Object, true
		if ev.Quarantined != nil {
			e.Old, e.FinalStateKnown = was.Object, false
		}
		delete(w.state, e.Key)
	}
	w.mu.Unlock()
	if e.Type != 0 { // a bookmark, or what can't be decoded: ignored
		w.handler.HandleEvent(e)
	}
}

// GetByKey returns what the map holds under "namespace/name", or "name" for a
// cluster-scoped object. That may be long gone (B1). A malformed key is a
// [*object.KeyError].
func (w *BareWatch[T]) GetByKey(key string) (obj T, exists bool, err error) {
	k, err := object.ParseKey(key)
	if err != nil {
		return obj, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	item, exists := w.state[k]
	return item.Object, exists, nil
}

// List returns what the map holds, in key order. That may be part of what
// exists (B5), and more than exists (B1).
func (w *BareWatch[T]) List() []T {
	w.mu.Lock()
	state := maps.Clone(w.state)
	w.mu.Unlock()
	return sorted(state)
}

// Watches returns how many watches were opened, and why the last one ended:
// nil while the first is open, [io.EOF] when the server closed it cleanly.
func (w *BareWatch[T]) Watches() (opened int, lastErr error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watches, w.lastErr
}
