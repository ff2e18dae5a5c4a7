package naive

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// Poller keeps a state by listing everything every interval, and tells a
// handler the differences. Make it with [NewPoller]. Apart from Run, its
// methods may be called at any time, by any goroutine, the handler's included.
type Poller[T metav1.Object] struct {
	source  reflector.Source[T]
	handler informer.EventHandler[T]
	opts    Options

	started atomic.Bool
	synced  chan struct{} // closed by Run's goroutine (N13)

	// state is replaced whole by Run's goroutine. The map behind it is never
	// changed again, so whoever has loaded it reads without a lock (N11).
	state atomic.Pointer[State[T]]

	mu    sync.Mutex // guards stats; held for assignments only
	stats Stats
}

// NewPoller makes a poller. It does nothing before Run.
func NewPoller[T metav1.Object](source reflector.Source[T], handler informer.EventHandler[T], opts Options) *Poller[T] {
	p := &Poller[T]{source: source, handler: handler, opts: opts.withDefaults(), synced: make(chan struct{})}
	p.state.Store(&State[T]{})
	return p
}

// Run polls, at once and then every interval, until ctx ends; it returns nil
// then. It starts no goroutine. A failed poll doesn't end it: see [Options].OnPoll
// and [Poller.Stats]. It may be called once; after that it returns [ErrAlreadyRun].
// A handler that panics takes Run with it.
func (p *Poller[T]) Run(ctx context.Context) error {
	if !p.started.CompareAndSwap(false, true) {
		return ErrAlreadyRun
	}
	for {
		pause := p.opts.Interval
		err := p.poll(ctx)
		if ctx.Err() != nil {
			return nil // an error now says only that
		}
		p.report(err)
		if seconds, asked := apierrors.SuggestsClientDelay(err); asked {
			pause = max(pause, min(time.Duration(seconds)*time.Second, maxRetryAfter))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// poll lists, compares, publishes, tells: in this order (N11).
func (p *Poller[T]) poll(ctx context.Context) error {
	before := *p.state.Load()
	list, err := p.fetch(ctx, before)
	if err != nil {
		return err
	}
	changes := Diff(before, list.state)
	p.state.Store(&list.state)
	p.count(func(s *Stats) {
		s.LastSuccess = time.Now()
		s.ResourceVersion = list.resourceVersion
		s.Objects = len(list.state)
		s.Quarantined = list.quarantined
	})

	first := !p.HasSynced()
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil
		}
		p.handler.HandleEvent(event(c, first))
	}
	if first {
		close(p.synced)
	}
	return nil
}

func (p *Poller[T]) report(err error) {
	p.count(func(s *Stats) {
		s.Polls++
		s.LastError = err
		if err != nil {
			s.Failures++
		}
	})
	if p.opts.OnPoll != nil {
		p.opts.OnPoll(p.Stats())
	}
}

// event puts a change into the words of a handler. Every list after the first
// is a relist to it: what changed was found by comparing.
func event[T metav1.Object](c Change[T], first bool) informer.Event[T] {
	e := informer.Event[T]{
		Type: c.Type, Source: informer.FromRelist, Initial: first, Key: c.Key,
		UID: c.New.UID, ResourceVersion: c.New.ResourceVersion, OldResourceVersion: c.Old.ResourceVersion,
		Old: c.Old.Object, New: c.New.Object,
	}
	if first {
		e.Source = informer.FromList
	}
	if c.Type == informer.Deleted {
		// The deletion itself was missed, its version is unknown.
		e.UID, e.ResourceVersion = c.Old.UID, c.Old.ResourceVersion
	}
	return e
}

// HasSynced reports whether the handler has been told the first complete list.
func (p *Poller[T]) HasSynced() bool {
	select {
	case <-p.synced:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced turns true.
func (p *Poller[T]) Synced() <-chan struct{} { return p.synced }

// GetByKey returns the object with the key "namespace/name", or "name" for a
// cluster-scoped one, and whether there is one. The object is shared: it must
// not be changed. A malformed key is a [*object.KeyError].
func (p *Poller[T]) GetByKey(key string) (obj T, exists bool, err error) {
	k, err := object.ParseKey(key)
	if err != nil {
		return obj, false, err
	}
	item, exists := (*p.state.Load())[k]
	return item.Object, exists, nil
}

// List returns all objects in key order, as of one poll. The slice is the
// caller's, the objects are shared and must not be changed.
func (p *Poller[T]) List() []T { return sorted(*p.state.Load()) }

// Len returns how many objects there are.
func (p *Poller[T]) Len() int { return len(*p.state.Load()) }

func sorted[T metav1.Object](state State[T]) []T {
	items := make([]object.Item[T], 0, len(state))
	for _, item := range state {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b object.Item[T]) int { return a.Key.Compare(b.Key) })
	objs := make([]T, len(items))
	for i, item := range items {
		objs[i] = item.Object
	}
	return objs
}
