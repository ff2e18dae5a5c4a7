package informer

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"informer.example/object"
)

// WaitForResourceVersion returns nil once the store has applied everything up
// to a resourceVersion of this informer's resource: what a write returned, for
// reading one's own write, or what a list returned. It returns at once if the
// store is there already.
//
//	pod, err := client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{})
//	...
//	err = pods.WaitForResourceVersion(ctx, pod.ResourceVersion)
//
// Else the error is a [*VersionWaitError], which wraps the cause: that of ctx,
// [ErrStopped] when Run ends, [ErrReleased] after Release, or a
// [*object.VersionError] if rv, or what the server calls its versions, can't be
// ordered. "" and "0" name no version.
//
// The store moves with events, lists and bookmarks. A write that this informer
// doesn't see (to another namespace, or to an object that its selectors leave
// out) brings no event: then the wait ends with the next event or bookmark that
// is as new. A server sends bookmarks about once a minute. The same is true of a
// deletion when rv is the object's last one: that version may be applied before
// the deletion is. Versions of other resources must not be compared at all.
//
// It speaks of the store: handlers may still be at older events. A handler may
// call it, though under a delivery policy that makes the store wait for that
// handler, it waits for itself, until ctx ends.
//
// A waiter costs no goroutine, and an event costs nothing for those who wait
// for later ones.
func (i *Informer[T]) WaitForResourceVersion(ctx context.Context, rv string) error {
	fail := func(err error) error {
		return &VersionWaitError{Name: i.opts.Name, Want: rv, Have: i.store.ResourceVersion(), Err: err}
	}
	// Stand in line first, then look: what is applied in between wakes us.
	w := i.waiters.add(rv)
	defer i.waiters.remove(w)
	if err := i.lease.check(); err != nil {
		return fail(err)
	}
	if reached, err := i.reached(rv); reached {
		return nil
	} else if err != nil {
		return fail(err)
	}
	select {
	case <-w.woken:
	case <-ctx.Done():
		return fail(context.Cause(ctx))
	case <-i.lease.released():
		return fail(ErrReleased)
	case <-i.stopping:
		if reached, _ := i.reached(rv); !reached {
			return fail(cmp.Or(i.lease.check(), ErrStopped))
		}
		return nil
	}
	if w.err != nil {
		return fail(w.err)
	}
	return nil
}

// GetAtLeast returns the object under a key as of a resourceVersion or later:
// what [Lister.Get] returns after [Informer.WaitForResourceVersion]. It does not
// wait if the stored object itself is that new. An object that was deleted by
// then, or is not in what this informer watches, is a NotFound.
//
// It is for the read that follows one's own create or update of that object.
func (i *Informer[T]) GetAtLeast(ctx context.Context, key object.Key, rv string) (T, error) {
	if item, ok := i.store.Item(key); ok && (object.Newer(item.ResourceVersion, rv) || object.UsableVersion(rv) && item.ResourceVersion == rv) {
		return item.Object, nil
	}
	if err := i.WaitForResourceVersion(ctx, rv); err != nil {
		var none T
		return none, err
	}
	return i.Lister().Get(key)
}

// reached reports whether the store has applied a version. An error means that
// waiting is pointless. Equal versions need no order.
func (i *Informer[T]) reached(rv string) (bool, error) {
	have := i.scope.reached(i.store.ResourceVersion())
	switch {
	case object.UsableVersion(have) && have == rv:
		return true, nil
	case object.UsableVersion(have):
		c, err := object.CompareVersions(have, rv)
		return c >= 0 && err == nil, err
	default: // nothing was listed yet
		_, err := object.CompareVersions(rv, rv)
		return false, err
	}
}

// VersionWaitError says that an informer's store has not come to a
// resourceVersion.
type VersionWaitError struct {
	Name       string // of the informer
	Want, Have string // Have is empty if nothing was applied yet
	Err        error
}

func (e *VersionWaitError) Error() string {
	at := "the store is at " + e.Have
	if e.Have == "" {
		at = "nothing was listed yet"
	}
	return fmt.Sprintf("%s: resourceVersion %q is not reached, %s: %v", e.Name, e.Want, at, e.Err)
}

func (e *VersionWaitError) Unwrap() error { return e.Err }

// versionWaiters are the callers that wait for a version. Its zero value is
// ready.
type versionWaiters struct {
	// waiting is the length of line, so that a commit that nobody waits for
	// costs one load. A waiter counts before it looks at the store, and a commit
	// is in the store before the count is read, so one of the two sees the other.
	waiting atomic.Int64

	mu   sync.Mutex // guards line, and what is not fixed in a waiter
	line waitHeap
}

type versionWaiter struct {
	rv    string        // fixed
	woken chan struct{} // closed when the version is reached, or never will be
	err   error         // set before woken is closed
	at    int           // place in line, -1 outside of it
}

func (v *versionWaiters) add(rv string) *versionWaiter {
	w := &versionWaiter{rv: rv, woken: make(chan struct{}), at: -1}
	if _, err := object.CompareVersions(rv, rv); err != nil {
		return w // there is no order to stand in
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	heap.Push(&v.line, w)
	v.waiting.Add(1)
	return w
}

func (v *versionWaiters) remove(w *versionWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w.at >= 0 {
		heap.Remove(&v.line, w.at)
		v.waiting.Add(-1)
	}
}

// applied wakes those whose version the store has reached. Called by the apply
// loop after each commit.
func (v *versionWaiters) applied(reached func(rv string) (bool, error)) {
	if v.waiting.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.line) > 0 {
		first := v.line[0]
		ok, err := reached(first.rv)
		if !ok && err == nil {
			return
		}
		heap.Pop(&v.line)
		v.waiting.Add(-1)
		first.err = err
		close(first.woken)
	}
}

// waitHeap has the lowest version first. All its versions can be ordered.
type waitHeap []*versionWaiter

func (h waitHeap) Len() int           { return len(h) }
func (h waitHeap) Less(a, b int) bool { return object.Newer(h[b].rv, h[a].rv) }
func (h waitHeap) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].at, h[b].at = a, b
}

// Push and Pop are container/heap's, hence the any.
func (h *waitHeap) Push(x any) {
	w, _ := x.(*versionWaiter)
	w.at = len(*h)
	*h = append(*h, w)
}

func (h *waitHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.at = -1
	return w
}
