package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/reflector"
)

var (
	// ErrNotByNamespace: the informer's namespaces can't be changed, because it
	// wasn't made for a set of them.
	ErrNotByNamespace = errors.New("informer: it watches all that its source lists; make it with NewForNamespaces to choose namespaces")
	// ErrFactoryScope: the namespaces of a factory's informer can't be changed,
	// because it is shared by all who asked for these.
	ErrFactoryScope = errors.New("informer: the namespaces of a factory's informer are fixed; ask the factory for others, or make an informer with NewForNamespaces")
)

// NewForNamespaces makes an informer over a set of namespaces, which may be
// empty and can be changed at any time, also while it runs (see
// [Informer.SetNamespaces]). newSource makes the source of one namespace. It
// is called for each that is added, and must not call the informer.
//
// Each namespace is listed and watched by itself, so that one that is
// forbidden or missing holds up none of the others: Status and the error of
// WaitForSync name it. All share one store and the same handlers. Objects are
// stored under their own namespace, so [Options.KeyFunc] must be nil.
func NewForNamespaces[T metav1.Object](newSource func(namespace string) (reflector.Source[T], error), namespaces []string, opts Options[T]) (*Informer[T], error) {
	if opts.KeyFunc != nil {
		return nil, errors.New("informer: a KeyFunc can't be used with a set of namespaces: the key's namespace says which list an object belongs to")
	}
	i := newInformer(opts)
	i.scope.newSource = newSource
	if err := i.SetNamespaces(namespaces...); err != nil {
		return nil, err
	}
	return i, nil
}

// SetNamespaces makes these the informer's namespaces: those that are new are
// listed, those that aren't named are removed, the rest goes on undisturbed.
// On an error nothing has changed.
//
// Like AddNamespace and RemoveNamespace, it doesn't wait. WaitForSync waits for
// what was added.
func (i *Informer[T]) SetNamespaces(namespaces ...string) error {
	return i.changeScope(func([]string) []string { return namespaces })
}

// AddNamespace adds a namespace. Only this one is listed; its objects are told
// as Added, from a list. Adding one that is there does nothing. One whose
// reflector has ended with an error (see [NamespaceStatus.Err]) can be begun
// anew: remove it, then add it.
func (i *Informer[T]) AddNamespace(namespace string) error {
	return i.changeScope(func(have []string) []string { return append(have, namespace) })
}

// RemoveNamespace ends the list and watch of a namespace. Soon after, its
// objects leave the store, in one commit, and are told as Deleted with
// [OutOfScope] as the reason. Removing one that isn't there does nothing.
// The objects of the other namespaces are not touched.
func (i *Informer[T]) RemoveNamespace(namespace string) error {
	return i.changeScope(func(have []string) []string {
		return slices.DeleteFunc(have, func(ns string) bool { return ns == namespace })
	})
}

// Namespaces returns the informer's namespaces, in order; nil for an informer
// that watches everything its source lists.
func (i *Informer[T]) Namespaces() []string {
	s := &i.scope
	if s.newSource == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.namespaces()
}

// scope is the set of an informer's parts.
type scope[T metav1.Object] struct {
	newSource func(namespace string) (reflector.Source[T], error) // nil: one part, for good

	// covered is the set of namespaces. It is replaced, never changed.
	covered atomic.Pointer[map[string]struct{}]

	running sync.WaitGroup // parts that were launched; Add only under mu and not once closed

	// mu guards what follows and the parts' fields that say so. It is held for
	// bookkeeping only: no user code runs under it. Lock order: the informer's
	// turn, then mu. The hub's lock and the store's are not taken under it.
	mu      sync.Mutex
	parts   []*part[T]               // in the order of namespaces
	leaving map[string]chan struct{} // the done of parts that were removed and haven't ended
	ctx     context.Context          // set while parts may be launched
	closed  bool
	all     bool          // Run was called, and every part has synced
	marked  bool          // the informer was told so, once
	changed chan struct{} // closed when a part changes; nil while nobody waits
}

func (s *scope[T]) namespaces() []string {
	out := make([]string, 0, len(s.parts))
	for _, p := range s.parts {
		out = append(out, p.namespace)
	}
	return out
}

// covers reports whether a namespace is in the scope at this moment.
func (s *scope[T]) covers(namespace string) bool {
	set := s.covered.Load()
	if set == nil {
		return true
	}
	_, ok := (*set)[namespace]
	return ok
}

// changeScope replaces the set of namespaces by what want makes of it.
func (i *Informer[T]) changeScope(want func(have []string) []string) error {
	s := &i.scope
	switch {
	case s.newSource == nil:
		return ErrNotByNamespace
	case i.ofFactory:
		return ErrFactoryScope
	}
	// One change at a time, and newSource, which is the user's, under no lock.
	for {
		s.mu.Lock()
		have := s.namespaces()
		s.mu.Unlock()
		namespaces := slices.Compact(slices.Sorted(slices.Values(want(slices.Clone(have)))))
		added, err := i.newParts(namespaces, have)
		if err != nil {
			return err
		}
		if ok, err := s.replace(i, have, namespaces, added); ok || err != nil {
			return err
		}
	}
}

// newParts makes the parts of the namespaces that are not there yet.
func (i *Informer[T]) newParts(namespaces, have []string) ([]*part[T], error) {
	var added []*part[T]
	for _, ns := range namespaces {
		if _, found := slices.BinarySearch(have, ns); found {
			continue
		}
		if ns == "" {
			return nil, errors.New(`informer: "" is no namespace; for all of them, make the informer without a set of namespaces`)
		}
		source, err := i.scope.newSource(ns)
		if err != nil {
			return nil, fmt.Errorf("informer: namespace %q: %w", ns, err)
		}
		added = append(added, i.newPart(ns, false, source))
	}
	return added, nil
}

// replace fails if the namespaces are not those that the caller has seen.
func (s *scope[T]) replace(i *Informer[T], have, want []string, added []*part[T]) (ok bool, err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false, ErrStopped
	}
	if !slices.Equal(have, s.namespaces()) {
		s.mu.Unlock()
		return false, nil
	}
	s.parts = slices.DeleteFunc(s.parts, func(p *part[T]) bool {
		if _, stays := slices.BinarySearch(want, p.namespace); stays {
			return false
		}
		p.removed = true
		if p.stop != nil {
			if s.leaving == nil {
				s.leaving = make(map[string]chan struct{})
			}
			s.leaving[p.namespace] = p.done
			p.stop()
		}
		return true
	})
	for _, p := range added {
		p.after = s.leaving[p.namespace]
		s.parts = append(s.parts, p)
		if s.ctx != nil {
			s.launch(i, p)
		}
	}
	slices.SortFunc(s.parts, func(a, b *part[T]) int { return cmp.Compare(a.namespace, b.namespace) })
	set := make(map[string]struct{}, len(s.parts))
	for _, p := range s.parts {
		set[p.namespace] = struct{}{}
	}
	s.covered.Store(&set)
	first := s.update()
	s.mu.Unlock()
	if first { // only those that were removed had not synced
		i.markSynced()
	}
	return true, nil
}

// launch starts a part's goroutine, which ends with the part. s.mu is held.
func (s *scope[T]) launch(i *Informer[T], p *part[T]) {
	var ctx context.Context
	ctx, p.stop = context.WithCancel(s.ctx)
	s.running.Go(func() {
		err := ErrCutShort // unless p.follow says otherwise
		// Deferred, so that a user's function that ends the goroutine leaves
		// nothing behind.
		defer func() {
			if ctx.Err() == nil {
				s.fail(i, p, err)
				<-ctx.Done() // its objects stay until it is removed
			}
			p.stop()
			s.leave(i, p)
		}()
		if p.after != nil {
			<-p.after // it has been told to stop
		}
		if e := p.follow(ctx, i); e != nil {
			err = e
		}
	})
}

// fail notes why a part has ended although it should not.
func (s *scope[T]) fail(i *Informer[T], p *part[T], err error) {
	s.mu.Lock()
	p.err = err
	s.notify()
	s.mu.Unlock()
	i.opts.Logger.Error("namespace given up; remove it and add it to begin anew",
		"informer", i.opts.Name, "namespace", p.namespace, "err", err)
}

// leave takes a part's objects out of the store, if it was removed, and makes
// room for a new part of its namespace.
func (s *scope[T]) leave(i *Informer[T], p *part[T]) {
	s.mu.Lock()
	removed := p.removed && !s.closed
	s.mu.Unlock()
	if removed {
		i.clearNamespace(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[p.namespace] == p.done {
		delete(s.leaving, p.namespace)
	}
	close(p.done)
}

// clearNamespace empties a removed part's range of the store: one commit.
func (i *Informer[T]) clearNamespace(p *part[T]) {
	i.turn.Lock()
	defer i.turn.Unlock()
	defer i.waiters.applied(i.reached) // those who waited for this namespace alone
	began := i.traceStart()
	before, after, _ := i.store.ReplaceNamespace(p.namespace, nil, nil, i.scope.lowest())
	s := &segment[T]{seq: after.Sequence(), source: FromScope, reason: OutOfScope, before: before, after: after}
	i.traceCommit(p.namespace, began, s)
	i.hub.publish(s)
}

// follow launches the parts and returns when ctx has ended and so have they.
func (s *scope[T]) follow(ctx context.Context, i *Informer[T]) error {
	s.mu.Lock()
	s.ctx = ctx
	whole := s.newSource == nil
	if !whole {
		for _, p := range s.parts {
			s.launch(i, p)
		}
	}
	first := s.update()
	s.mu.Unlock()
	if first { // there is no namespace
		i.markSynced()
	}
	defer func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.running.Wait()
	}()
	if whole {
		return s.parts[0].follow(ctx, i) // in this goroutine
	}
	<-ctx.Done()
	return nil
}
