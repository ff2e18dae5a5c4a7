package informer

import (
	"context"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/object"
	"informer.example/reflector"
)

// part is what fills the store, or one namespace of it: a reflector, a queue
// and an apply loop. An informer over everything has one; one over a set of
// namespaces has one for each, and they share store and handlers.
type part[T metav1.Object] struct {
	namespace string
	whole     bool // it fills the whole store; namespace is then ""
	queue     deltafifo.Queue[T]
	reflector *reflector.Reflector[T]

	foreign atomic.Bool        // objects of another namespace were reported once
	done    chan struct{}      // closed when the part has ended and, if it was removed, its objects are gone
	after   chan struct{}      // if not nil, it begins when this is closed: the namespace's former part has ended
	stop    context.CancelFunc // set when it is launched; with scope.mu

	// Guarded by scope.mu.
	synced   bool   // its first list has been applied
	removed  bool   // it was taken out of the scope
	progress string // the version up to which the store has all of it; "" before the first list
	err      error  // why it ended, if not by its context
}

func (i *Informer[T]) newPart(namespace string, whole bool, source reflector.Source[T]) *part[T] {
	p := &part[T]{namespace: namespace, whole: whole, done: make(chan struct{})}
	switch i.opts.Queue {
	case DeltaFIFO:
		p.queue = deltafifo.NewDeltaFIFO(deltafifo.Options[T]{MaxDepth: i.opts.QueueDepth, KnownObjects: stored[T]{i.store, p}})
	default:
		p.queue = deltafifo.NewInOrder(deltafifo.Options[T]{MaxDepth: i.opts.QueueDepth})
	}
	if r, ok := source.(reflector.Reuser[T]); ok && !i.opts.AlwaysDecode && i.opts.KeyFunc == nil {
		source = r.Reusing(i.beginReuse)
	}
	p.reflector = reflector.New(source, sink[T]{informer: i, part: p}, i.reflecting(p))
	return p
}

// reflecting are the settings of a part's reflector. It doesn't know whose it
// is, so its log lines get that from here.
func (i *Informer[T]) reflecting(p *part[T]) reflector.Options {
	o := i.opts.Reflector
	o.Logger = o.Logger.With("informer", i.opts.Name)
	if !p.whole {
		o.Logger = o.Logger.With("namespace", p.namespace)
	}
	return o
}

// follow reflects and applies until ctx ends, and returns when both have ended.
// The reflector runs in the caller's goroutine.
func (p *part[T]) follow(parent context.Context, i *Informer[T]) (err error) {
	ctx, cancel := context.WithCancel(parent)
	var applying sync.WaitGroup
	applying.Go(func() {
		defer cancel() // without it nothing is applied any more
		(&applier[T]{informer: i, part: p}).run(ctx)
	})
	// Deferred, so that a user's function that ends the goroutine leaves
	// nobody waiting.
	defer func() {
		cancel()
		p.queue.Close()
		applying.Wait()
	}()
	return p.reflector.Run(ctx)
}

// covers reports whether a key is of the part's range of the store.
func (p *part[T]) covers(key object.Key) bool { return p.whole || key.Namespace == p.namespace }
