package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"informer.example/apisim"
	"informer.example/apisim/fault"
)

// patience is how long a clause waits for what is to come, in virtual time.
const patience = 10 * time.Minute

// world is what one clause acts in: a server, a Subject, and the story so far.
// The clause's goroutine owns it, but for what mu guards.
type world struct {
	clause *clause
	impl   Implementation
	began  time.Time
	server *apisim.Server
	faults *fault.Script
	config Config
	broken *Broken
	atEnd  []func() // let go of what blocks

	subject Subject
	reg     Registration // of rec
	rec     *recorder    // the first handler
	cancel  context.CancelFunc
	runs    chan error // Run's result
	ended   bool       // it was taken from runs
	turn    int

	mu       sync.Mutex
	done     []string
	requests []request
}

// over ends a clause that is broken.
type over struct{}

func newWorld(c *clause, impl Implementation) *world {
	w := &world{clause: c, impl: impl, began: time.Now(), faults: fault.New(), rec: &recorder{}}
	server, err := apisim.NewServer()
	if err != nil {
		panic(err) // a mistake in the suite
	}
	server.SetFault(w.faults.Choose)
	w.server = server
	cfg := server.Config()
	cfg.ContentType, cfg.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	cfg.Transport = &wire{w: w, to: server.RoundTripper()}
	w.config = Config{REST: cfg}
	return w
}

// play runs the clause, then ends what it has begun.
func (w *world) play() {
	before := len(bubbled())
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(over); !ok {
					w.note(fmt.Sprintf("the clause panicked: %v\n%s", p, debug.Stack()), nil)
				}
			}
		}()
		w.clause.test(w)
	}()
	w.faults.Clear()
	for _, end := range slices.Backward(w.atEnd) {
		end()
	}
	if w.runs != nil && !w.ended {
		w.cancel()
		select {
		case <-w.runs:
		case <-time.After(time.Hour):
			w.note("an hour after its context had ended, Run had not returned", nil)
		}
	}
	for range 60 {
		if len(bubbled()) <= before {
			return
		}
		time.Sleep(time.Minute)
	}
	if left := bubbled(); len(left) > before {
		w.note("an hour after Run had returned, a goroutine is left:\n"+left[len(left)-1], nil)
	}
}

// note records the first thing that is broken.
func (w *world) note(seen string, err error) {
	if w.broken != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.clause
	w.broken = &Broken{Clause: Clause{c.id, c.sentence, c.needs}, Done: slices.Clone(w.done), Seen: seen, Err: err}
}

// failf ends the clause as broken.
func (w *world) failf(format string, args ...any) {
	w.note(fmt.Sprintf(format, args...), nil)
	panic(over{})
}

// check fails the clause unless ok.
func (w *world) check(ok bool, format string, args ...any) {
	if !ok {
		w.failf(format, args...)
	}
}

// must fails the clause with an error of the Subject's.
func (w *world) must(err error, what string) {
	if err != nil {
		w.note(fmt.Sprintf("%s: %v", what, err), err)
		panic(over{})
	}
}

// lacks fails the clause, since the Subject has no such method.
func (w *world) lacks(what string) {
	w.must(errors.ErrUnsupported, "the subject has no "+what)
}

// do adds to the story.
func (w *world) do(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, fmt.Sprintf("%8s  ", time.Since(w.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// make makes the Subject, with w.rec as its handler.
func (w *world) make() {
	var err error
	w.subject, err = w.impl.New(w.config)
	w.must(err, "making the subject")
	w.reg, err = w.subject.AddHandler(w.rec)
	w.must(err, "adding a handler")
}

// start makes the Subject if there is none, and runs it.
func (w *world) start() {
	if w.subject == nil {
		w.make()
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	w.runs = make(chan error, 1)
	w.do("Run starts")
	go func() {
		defer func() {
			if p := recover(); p != nil {
				w.runs <- fmt.Errorf("Run panicked: %v", p)
			}
		}()
		w.runs <- w.subject.Run(ctx)
	}()
}

// sync starts the Subject and waits until store and handler have synced.
func (w *world) sync() {
	w.start()
	w.until("it has synced, store and handler", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
	w.pass(time.Minute) // a stream that lived for so long isn't a short one
	w.do("it has synced")
}

// stop ends the Subject and returns how long Run took to return.
func (w *world) stop() time.Duration {
	w.do("its context ends")
	began := time.Now()
	w.cancel()
	select {
	case err := <-w.runs:
		w.ended = true
		w.must(err, "Run")
	case <-time.After(time.Hour):
		w.failf("an hour after its context had ended, Run had not returned")
	}
	return time.Since(began)
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// await reports whether something comes true within d.
func (w *world) await(d time.Duration, ok func() bool) bool {
	began := time.Now()
	for step := time.Millisecond; ; step = min(2*step, time.Second) {
		synctest.Wait()
		if ok() {
			return true
		}
		if time.Since(began) >= d {
			return false
		}
		time.Sleep(step)
	}
}

// until waits for what is to come.
func (w *world) until(what string, ok func() bool) {
	if !w.await(patience, ok) {
		w.failf("%v later it is still not so that %s; %s", patience, what, show(w.rec.all()))
	}
}

// converge waits until store and handler have the server's state.
func (w *world) converge() {
	ok := w.await(patience, func() bool {
		return equal(w.store(), w.truth()) && equal(w.rec.state(), w.truth())
	})
	w.check(ok, "%v later store and server still differ\nserver: %v\nstore:  %v\ntold:   %v", patience, w.truth(), w.store(), w.rec.state())
}

// settle waits for what a change brings, and some more.
func (w *world) settle() {
	w.converge()
	w.pass(time.Minute)
	w.converge()
}

// addHandler registers one more handler.
func (w *world) addHandler(h Handler) Registration {
	w.do("another handler is added")
	reg, err := w.subject.AddHandler(h)
	w.must(err, "adding another handler")
	return reg
}

// gate blocks handlers until it is opened, at the end of the clause at last.
func (w *world) gate() (wait, open func()) {
	ch := make(chan struct{})
	open = sync.OnceFunc(func() { close(ch) })
	w.atEnd = append(w.atEnd, open)
	return func() { <-ch }, open
}

// timeout is a context that ends with the clause.
func timeout(w *world, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	w.atEnd = append(w.atEnd, cancel)
	return ctx
}
