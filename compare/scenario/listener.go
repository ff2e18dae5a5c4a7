package scenario

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/compare/invariant"
	"informer.example/informer"
)

// listener is a handler of a script. What it is told is followed by the checker,
// and the script says how it behaves.
type listener[T metav1.Object] struct {
	informer *informer.Informer[T]
	follows  *invariant.Handler
	log      func(string, ...any)
	name     string

	reg        *informer.Registration[T] // set before registered is closed
	registered chan struct{}

	mu     sync.Mutex // guards what follows
	gate   chan struct{}
	panics int // so many calls from now on
	quits  int // it takes itself off in so many calls; 0: never
	gone   bool
}

// HandleEvent implements informer.EventHandler.
func (l *listener[T]) HandleEvent(e informer.Event[T]) {
	l.log("%s: %s %s@%s", l.name, e.Type, e.Key, e.ResourceVersion)
	select {
	case <-l.registered:
		if l.reg.HasSynced() {
			l.follows.Synced()
		}
	default:
	}
	call := invariant.Call{
		Event: invariant.Event{
			Type: e.Type.String(), Key: e.Key, UID: e.UID, RV: e.ResourceVersion,
			Resync: e.Source == informer.FromResync,
		},
		OldRV: e.OldResourceVersion, Initial: e.Initial, Object: e.Object(),
	}
	if e.Type != informer.Added {
		call.Old = e.Old
	}
	l.follows.Begin(call)
	defer l.follows.End()

	l.mu.Lock()
	gate, panics, leaves := l.gate, l.panics > 0, l.quits == 1
	l.panics = max(l.panics-1, 0)
	l.quits = max(l.quits-1, 0)
	l.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if leaves {
		<-l.registered
		l.leave()
	}
	if panics {
		panic("the script says so")
	}
}

// leave takes the handler off.
func (l *listener[T]) leave() {
	if err := l.informer.RemoveEventHandler(l.reg); err != nil {
		return // it left before
	}
	l.follows.Removed()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}

// stall has the handler's calls block from now on, resume lets them go on.
func (l *listener[T]) stall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gate == nil {
		l.gate = make(chan struct{})
	}
}

func (l *listener[T]) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gate != nil {
		close(l.gate)
		l.gate = nil
	}
}

func (l *listener[T]) panic(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.panics = n
}

func (l *listener[T]) hasGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}
