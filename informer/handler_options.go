package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HandlerOption changes how a handler is registered.
type HandlerOption func(*handlerOptions)

type handlerOptions struct {
	name     string
	resync   time.Duration
	delivery Delivery
	maxLag   int
	panics   PanicPolicy
	slowCall time.Duration
}

// Delivery says what a handler gets when it is slower than the changes come.
// In each case the last thing that it is told of an object is the object's
// present state, and no policy makes readers of the store wait.
type Delivery uint8

const (
	// Elastic tells every event while no more than the handler's MaxLag wait
	// for it; beyond that, differences of states, one step for each key. A slow
	// handler delays nobody, and costs memory for MaxLag events at most, then
	// for a snapshot. It is the default.
	Elastic Delivery = iota

	// Latest tells one step for each key that has changed, from what the
	// handler was told last to what was newest when its call began. Changes
	// that came in between are left out, and an object that came and went
	// between two calls is not told at all. Keys come in the order in which
	// they first changed, except in the initial list and after more than MaxLag
	// events came during one call, where they come in key order. This is what a
	// controller wants that looks at each object's present state only.
	Latest

	// Block tells every event, and never leaves out one. When more than the
	// handler's MaxLag events wait for it, the apply loop waits too: the store
	// stands still for all, other handlers hear nothing new, the queue fills,
	// and then the watch isn't read any more, which the server answers by
	// ending it. Readers go on, and see the state as it stands. The bound is
	// checked after each commit, so up to 255 events more than MaxLag may
	// wait. A list is one commit and counts as one event.
	//
	// Removing the handler, and the end of Run, release the apply loop at once,
	// also while the handler's call doesn't return. A Block handler must not
	// wait for the store to change: while it is behind, that is waiting for
	// itself.
	Block
)

func (d Delivery) String() string {
	switch d {
	case Elastic:
		return "elastic"
	case Latest:
		return "latest"
	case Block:
		return "block"
	}
	return fmt.Sprintf("Delivery(%d)", uint8(d))
}

// PanicPolicy says what becomes of a panic in a handler.
type PanicPolicy uint8

const (
	// CrashOnPanic lets the process die, with the stack of the panic. Nothing
	// in the informer holds it up. It is the default: after a panic nobody
	// knows what state the handler's own data is in.
	CrashOnPanic PanicPolicy = iota
	// IsolatePanics ends the call alone. The panic is logged with its stack and
	// stands in [HandlerStatus]; the event counts as told, and the handler is
	// told the next one. A handler whose initial calls panic does sync.
	IsolatePanics
)

func (p PanicPolicy) String() string {
	switch p {
	case CrashOnPanic:
		return "crash"
	case IsolatePanics:
		return "isolate"
	}
	return fmt.Sprintf("PanicPolicy(%d)", uint8(p))
}

// DefaultSlowCall is how long one call of a handler may take before it is
// logged.
const DefaultSlowCall = 10 * time.Second

// WithName names the handler in [Status] and in warnings. The default is the
// name of its function or of its type, as far as there is one.
func WithName(name string) HandlerOption {
	return func(o *handlerOptions) { o.name = name }
}

// WithDelivery says what the handler gets when it is slow. Default: [Elastic].
func WithDelivery(d Delivery) HandlerOption {
	return func(o *handlerOptions) { o.delivery = d }
}

// WithHandlerMaxLag overrides [Options.MaxLag] for this handler. n below 1 is
// taken for 1.
func WithHandlerMaxLag(n int) HandlerOption {
	return func(o *handlerOptions) { o.maxLag = max(n, 1) }
}

// WithPanicPolicy says what becomes of a panic in the handler. Default:
// [CrashOnPanic].
func WithPanicPolicy(p PanicPolicy) HandlerOption {
	return func(o *handlerOptions) { o.panics = p }
}

// WithSlowCall logs a warning, with the handler's name and the object's key,
// when one call takes longer than d: once for each such call, while it still
// runs. Default: [DefaultSlowCall]; 0 turns it off.
func WithSlowCall(d time.Duration) HandlerOption {
	return func(o *handlerOptions) { o.slowCall = d }
}

// WithHandlerResync replays the store to this handler every d, as events from
// [FromResync]; 0 turns it off. It overrides [Options.Resync].
//
// A resync asks the server nothing, so it finds nothing that was missed: it
// repeats what the handler has been told. The calls are spread over d. Changes
// go first: while some wait, nothing is replayed, and what is then left over
// when the period ends is dropped, not made up for. The next period goes on
// after the last key, so that each object has its turn.
func WithHandlerResync(d time.Duration) HandlerOption {
	return func(o *handlerOptions) { o.resync = d }
}

// check refuses what no handler can be given.
func (o *handlerOptions) check() error {
	switch {
	case o.delivery > Block:
		return fmt.Errorf("informer: handler %s: unknown delivery policy %s; want Elastic, Latest or Block", o.name, o.delivery)
	case o.panics > IsolatePanics:
		return fmt.Errorf("informer: handler %s: unknown panic policy %s; want CrashOnPanic or IsolatePanics", o.name, o.panics)
	}
	return nil
}

// handlerName finds a name for a handler that was given none.
func handlerName[T metav1.Object](h EventHandler[T]) string {
	switch h := h.(type) {
	case HandlerFunc[T]:
		return funcName(h)
	case HandlerFuncs[T]:
		switch {
		case h.AddFunc != nil:
			return funcName(h.AddFunc)
		case h.UpdateFunc != nil:
			return funcName(h.UpdateFunc)
		case h.DeleteFunc != nil:
			return funcName(h.DeleteFunc)
		}
	}
	return fmt.Sprintf("%T", h)
}

// funcName is the function's name, as in "main.(*Controller).add", without
// the directories of its package.
func funcName(f any) string {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	if fn == nil { // also of a nil function, which panics only when it is called
		return fmt.Sprintf("%T", f)
	}
	name := strings.TrimSuffix(fn.Name(), "-fm")
	// Type parameters may hold slashes of their own.
	path, _, _ := strings.Cut(name, "[")
	return name[strings.LastIndexByte(path, '/')+1:]
}
