package reflector

import (
	"context"
	"time"
)

// watchdog ends a request whose server has been silent for too long, by ending
// its context with the cause errSilent. It belongs to the goroutine of Run.
type watchdog struct {
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	total  context.CancelFunc
	timer  *time.Timer
	limit  time.Duration // of silence; 0: none
}

// start returns the context of a request that may take no longer than most.
func (w *watchdog) start(parent context.Context, most time.Duration) context.Context {
	ctx, total := context.WithTimeoutCause(parent, most, errSilent)
	ctx, cancel := context.WithCancelCause(ctx)
	*w = watchdog{ctx: ctx, cancel: cancel, total: total}
	return ctx
}

// expect says how long the server may be silent from now on. 0 is as long as
// the request may take.
func (w *watchdog) expect(limit time.Duration) {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.limit = limit; limit > 0 {
		cancel := w.cancel
		w.timer = time.AfterFunc(limit, func() { cancel(errSilent) })
	}
}

// listen begins the time of silence anew, and heard ends it: what passes until
// the next listen is the reader's time, not the server's.
func (w *watchdog) listen() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

func (w *watchdog) heard() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop frees what the watchdog holds, and ends the context.
func (w *watchdog) stop() {
	w.expect(0)
	if w.cancel != nil {
		w.cancel(nil)
		w.total()
	}
}
