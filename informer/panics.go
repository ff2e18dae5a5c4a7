package informer

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"informer.example/object"
)

// HandlerPanic is a panic in a handler that was isolated (see
// [IsolatePanics]).
type HandlerPanic struct {
	Handler string
	Key     object.Key // of the object that the call was about
	Time    time.Time
	Value   string // what was given to panic, as text
	Stack   string
}

func (p *HandlerPanic) Error() string {
	return fmt.Sprintf("handler %s panicked on %s: %s", p.Handler, p.Key, p.Value)
}

// isolated calls the handler and survives a panic in it, which it returns.
func (r *Registration[T]) isolated(e Event[T]) (p *HandlerPanic) {
	defer func() {
		value := recover()
		if value == nil {
			return // it returned, or called Goexit, which can't be stopped
		}
		p = &HandlerPanic{
			Handler: r.opts.name, Key: e.Key, Time: time.Now(),
			Value: panicText(value), Stack: string(debug.Stack()),
		}
		r.lastPanic.Store(p)
		r.panics.Add(1)
		r.hub.logger.Error("a handler panicked; it goes on with the next event",
			"informer", r.hub.name, "handler", p.Handler, "key", p.Key.String(), "event", e.Type.String(),
			"panic", p.Value, "stack", p.Stack)
	}()
	r.handler.HandleEvent(e)
	return nil
}

// panicText is what a panic says, as far as it was meant to be read. Of any
// other value only the type is told: it may be an object, or hold one, and logs
// are no place for those.
func panicText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case error:
		return v.Error()
	}
	return fmt.Sprintf("a value of type %T", value)
}

// abandon ends a registration whose handler did not return from a call.
func (h *hub[T]) abandon(r *Registration[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.active = false
	if i := slices.Index(h.regs, r); i >= 0 {
		h.regs = slices.Delete(h.regs, i, i+1)
		h.retire(r, ErrHandlerExited)
		return
	}
	r.end() // it was removed meanwhile
}
