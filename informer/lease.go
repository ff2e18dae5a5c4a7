package informer

import (
	"cmp"
	"errors"
	"sync/atomic"
)

var (
	// ErrReleased: the informer was given back with Release. Ask the factory
	// again to use it again.
	ErrReleased = errors.New("informer: used after Release; ask the factory for it again")
	// ErrNotLeased: Release was called on an informer that no factory gave out.
	ErrNotLeased = errors.New("informer: no factory gave it out, so there is nothing to release; end the context of its Run")
	// ErrFactoryRuns: Run was called on an informer of a factory.
	ErrFactoryRuns = errors.New("informer: its factory runs it; call Factory.Start")
)

// lease is one request's hold on an informer of a factory. A nil lease is that
// of an informer which nobody gives back: it is never over.
type lease struct {
	over atomic.Bool
	quit chan struct{} // closed once over
	// giveBack counts the lease off. The factory sets it.
	giveBack func()
}

func newLease(giveBack func()) *lease {
	return &lease{quit: make(chan struct{}), giveBack: giveBack}
}

// check returns ErrReleased once the lease is over.
func (l *lease) check() error {
	if l != nil && l.over.Load() {
		return ErrReleased
	}
	return nil
}

// released is closed when the lease is over.
func (l *lease) released() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.quit
}

// Release gives back an informer that [For] or [ForResource] returned. The
// handlers that were added through it are taken off, with [ErrReleased] as the
// reason, as by RemoveEventHandler. What waits through it ends with ErrReleased.
// When everything that was given out for one informer is released, the informer
// ends and the factory forgets it: the next request makes a new one, with a new
// list.
//
// Release doesn't wait, so a handler may call it; [Informer.Done] tells when the
// informer has ended. A second call does nothing and returns ErrReleased.
//
// Afterwards AddEventHandler and the methods that wait return ErrReleased.
// Reading goes on. It shows a store that is kept up for others, or that has come
// to rest: nothing tells which, so don't.
func (i *Informer[T]) Release() error {
	l := i.lease
	switch {
	case l == nil:
		return ErrNotLeased
	case l.over.Swap(true):
		return ErrReleased
	}
	close(l.quit)
	i.hub.release(l)
	l.giveBack()
	return nil
}

// Done is closed when the informer has ended: no call of a handler runs and none
// will, and Run is about to return. An informer of a factory that never ran ends
// when it is released by all, or when the factory is shut down.
func (i *Informer[T]) Done() <-chan struct{} { return i.stopped }

// Err returns nil until Done is closed, and then why the informer has ended: what
// Run returned, or [ErrStopped] if that was nil.
func (i *Informer[T]) Err() error {
	select {
	case <-i.stopped:
		return cmp.Or(i.failure, ErrStopped)
	default:
		return nil
	}
}
