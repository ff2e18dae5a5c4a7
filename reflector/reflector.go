package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// ErrAlreadyRun is returned by the second call of Run.
var ErrAlreadyRun = errors.New("this reflector has run before; make a new one")

// Reflector keeps a [Sink] at the state of a [Source].
type Reflector[T metav1.Object] struct {
	source Source[T]
	sink   Sink[T]
	opts   Options
	policy policy

	started atomic.Bool

	mu     sync.Mutex
	status Status // guarded by mu; written by Run's goroutine alone

	// What follows belongs to the goroutine of Run.
	began    time.Time
	staged   []object.Item[T] // of the list in flight
	keep     []object.Key     // quarantined in the list in flight
	stream   Stream[T]        // nil: none open
	watchdog watchdog         // of the stream
	event    Event[T]         // the event at hand
	heard    time.Time        // when the server last sent something
	asked    time.Time        // when the list in flight was asked for
	polled   polled[T]        // the last list of a resource without versions
	err      error            // the failure at hand
	trouble  trouble          // what the log was told last
	failures int              // failed attempts, as told to the log
	habits   habits           // as told to the log
}

// New makes a reflector. It does nothing before Run.
func New[T metav1.Object](src Source[T], sink Sink[T], opts Options) *Reflector[T] {
	opts = opts.withDefaults()
	return &Reflector[T]{source: src, sink: sink, opts: opts, policy: opts.policy()}
}

// Run lists and watches until ctx ends, and returns nil then. It returns an
// error when it was called before, when the sink failed, or, with FailFast,
// when the server refuses the resource.
//
// Run starts no goroutine of its own: everything happens in the caller's, and
// is over when Run returns.
func (r *Reflector[T]) Run(ctx context.Context) error {
	if !r.started.CompareAndSwap(false, true) {
		return ErrAlreadyRun
	}
	r.began = time.Now()
	defer r.stop()
	if r.opts.Trace != nil {
		ctx = WithTrace(ctx, r.opts.Trace)
	}

	s, eff := r.policy.step(state{}, input{kind: inStart})
	for ctx.Err() == nil {
		if err := r.settle(ctx, s, eff); err != nil {
			if ctx.Err() != nil {
				break // the sink gave up because it was told to
			}
			return err
		}
		var in input
		switch eff.next {
		case doList:
			in = r.fetch(ctx, eff.list)
		case doWatch:
			in = r.open(ctx, eff)
		case doRead:
			in = r.read(eff)
		case doWait:
			in = r.wait(ctx, eff)
		case doStop:
			return r.err
		}
		if ctx.Err() != nil {
			break // whatever failed, failed because of that
		}
		in.now = time.Since(r.began)
		s, eff = r.policy.step(s, in)
		if eff.fault != faultNone {
			r.err = eff.fault.err(in.rv)
		}
	}
	return nil
}

// settle does with the data at hand what the step said, and tells the status.
func (r *Reflector[T]) settle(ctx context.Context, s state, eff effect) error {
	var err error
	switch eff.data {
	case dataDiscard:
		r.staged, r.keep = nil, nil
	case dataCommit:
		list := List[T]{Items: newestOnly(r.staged), Keep: r.keep, ResourceVersion: eff.rv, Reason: eff.reason}
		r.staged, r.keep = nil, nil // the sink's from here on
		r.polled.settle(&list)
		err = r.sink.Replace(ctx, list)
	case dataStage:
		if r.event.Quarantined != nil {
			r.keep = append(r.keep, r.event.Item.Key)
			r.setAside(r.event)
		} else {
			r.staged = append(r.staged, r.event.Item)
		}
	case dataApply:
		if r.event.Quarantined != nil {
			r.setAside(r.event)
		}
		// A deletion needs no object; anything else is nothing without one.
		if r.event.Quarantined == nil || r.event.Type == Deleted {
			err = r.sink.Apply(ctx, r.event)
		}
	case dataBookmark:
		err = r.sink.Bookmark(ctx, eff.rv)
	}
	if err != nil {
		return err
	}
	r.observe(s, eff)
	return nil
}

// fetch gets one page and stages it. A page that fails leaves nothing behind.
func (r *Reflector[T]) fetch(ctx context.Context, opts ListOptions) input {
	r.closeStream() // that of a watch-list which came to nothing
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.ListTimeout, errSilent)
	defer cancel()
	if opts.Continue == "" {
		r.asked = time.Now()
	}
	before := len(r.staged)
	meta, err := r.source.List(ctx, opts, func(it object.Item[T]) error {
		r.staged = append(r.staged, it)
		return nil
	})
	if err != nil {
		clear(r.staged[before:])
		r.staged = r.staged[:before]
		return r.failed(ctx, err)
	}
	for _, q := range meta.Quarantined {
		r.keep = append(r.keep, q.Key)
		r.quarantined(q)
	}
	r.reused(meta.Reused)
	r.heard = time.Now()
	return input{kind: inPage, rv: meta.ResourceVersion, token: meta.Continue}
}

// open replaces the stream, if there is one, by the one asked for.
func (r *Reflector[T]) open(ctx context.Context, eff effect) input {
	r.closeStream()
	spread := r.opts.WatchTimeoutMax - r.opts.WatchTimeoutMin
	timeout := r.opts.WatchTimeoutMin + time.Duration(r.opts.Rand()*float64(spread))
	if eff.within > 0 {
		timeout = min(timeout, eff.within)
	}
	r.asked = time.Now()
	ctx = r.watchdog.start(ctx, timeout+r.opts.Slack)
	r.watchdog.expect(r.opts.OpenTimeout)
	stream, err := r.source.Watch(ctx, WatchOptions{ResourceVersion: eff.watch, SendInitialEvents: eff.initial, Timeout: timeout})
	if err != nil {
		r.watchdog.stop()
		return r.failed(ctx, err)
	}
	r.stream = stream
	r.heard = time.Now()
	r.watchdog.expect(r.idleLimit(eff.initial))
	return input{kind: inOpened}
}

// idleLimit is how long a stream may be silent; 0 is as long as it lives.
func (r *Reflector[T]) idleLimit(staging bool) time.Duration {
	if staging {
		return r.opts.MarkerTimeout
	}
	return r.opts.IdleTimeout
}

// read waits for the next event.
func (r *Reflector[T]) read(eff effect) input {
	if eff.data == dataCommit { // the marker has come: from here on it is a watch
		r.watchdog.expect(r.idleLimit(false))
	}
	r.watchdog.listen()
	ev, err := r.stream.Next()
	r.watchdog.heard()
	switch {
	case err == io.EOF:
		r.heard = time.Now()
		return input{kind: inEnded}
	case err != nil:
		return r.failed(r.watchdog.ctx, err)
	}
	if ev.Reused {
		r.reused(1)
	}
	r.heard = time.Now()
	r.event = ev
	return input{kind: inEvent, event: ev.Type, key: ev.Item.Key, rv: ev.Item.ResourceVersion, marker: ev.InitialEventsEnd}
}

// wait lets the time pass that lies before the next attempt, or less if ctx ends.
func (r *Reflector[T]) wait(ctx context.Context, eff effect) input {
	r.closeStream()
	timer := time.NewTimer(time.Until(r.nextAttempt()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return input{kind: inWaited}
}

// failed is the input that an error makes of a request with that context.
func (r *Reflector[T]) failed(ctx context.Context, err error) input {
	if context.Cause(ctx) == errSilent {
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	r.err = err
	class, retryAfter := classify(err)
	return input{kind: inFailed, class: class, retryAfter: retryAfter}
}

func (r *Reflector[T]) closeStream() {
	if r.stream == nil {
		return
	}
	r.stream.Close() // its error says nothing that Next hasn't said
	r.watchdog.stop()
	r.stream = nil
}

// stop ends the run, however it ended, and lets go of every object.
func (r *Reflector[T]) stop() {
	r.closeStream()
	r.staged, r.keep, r.event, r.polled = nil, nil, Event[T]{}, nil
	r.stopped()
}

// newestOnly makes sure that a list holds each key once. One version of a list
// can't hold two, and then its keys ascend: only pages of different versions
// need the map.
func newestOnly[T metav1.Object](items []object.Item[T]) []object.Item[T] {
	ascending := true
	for i := 1; i < len(items) && ascending; i++ {
		ascending = items[i-1].Key.Compare(items[i].Key) < 0
	}
	if ascending {
		return items
	}
	at := make(map[object.Key]int, len(items))
	kept := items[:0]
	for _, it := range items {
		i, twice := at[it.Key]
		switch {
		case !twice:
			at[it.Key] = len(kept)
			kept = append(kept, it)
		case !object.Newer(kept[i].ResourceVersion, it.ResourceVersion):
			kept[i] = it
		}
	}
	clear(items[len(kept):])
	return kept
}
