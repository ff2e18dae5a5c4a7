package reflector

import (
	"math"
	"time"

	"informer.example/object"
)

// step is the state machine: what happened, in what state, gives the next
// state and what to do. It is pure and allocates nothing.
//
// An input that the mode doesn't wait for is a defect of the driver. It is
// answered with the state's own continuation, so that nothing is lost.
func (p policy) step(s state, in input) (state, effect) {
	switch in.kind {
	case inStart:
		return p.startList(s, dataNone)
	case inWaited:
		if s.after == modeOpen {
			return p.open(s, dataNone)
		}
		return p.fetch(s, dataNone)
	case inPage:
		return p.page(s, in)
	case inOpened:
		s.mode = modeStream
		s.stream = streamState{opened: in.now}
		return s, effect{next: doRead}
	case inEvent:
		return p.event(s, in)
	case inEnded:
		return p.ended(s, in)
	case inFailed:
		if s.mode == modeList {
			return p.listFailed(s, in)
		}
		return p.watchFailed(s, in)
	}
	return s, effect{next: doStop}
}

// startList begins the first list: whatever the server has at hand.
func (p policy) startList(s state, data dataEffect) (state, effect) {
	s.list = listState{rv: "0"}
	return p.fetch(s, data)
}

// fetch asks for the page that the state stands for.
func (p policy) fetch(s state, data dataEffect) (state, effect) {
	s.mode = modeList
	return s, effect{data: data, next: doList, list: p.request(s.list)}
}

// open asks for a watch from where the sink is.
func (p policy) open(s state, data dataEffect) (state, effect) {
	s.mode = modeOpen
	return s, effect{data: data, next: doWatch, watch: s.progress}
}

// retry waits as the backoff and the server want it, and then does what after
// says. It counts one failed attempt.
func (p policy) retry(s state, in input, after mode, data dataEffect) (state, effect) {
	ceiling := p.backoff.ceiling(s.grown)
	s.failures++
	s.grown++
	s.mode, s.after = modeWait, after
	return s, effect{data: data, next: doWait, ceiling: ceiling, floor: min(in.retryAfter, maxRetryAfter)}
}

// refused ends the run if it was asked to fail fast, and retries otherwise.
func (p policy) refused(s state, in input, after mode, data dataEffect) (state, effect) {
	if !p.failFast {
		return p.retry(s, in, after, data)
	}
	s.failures++
	s.mode = modeStopped
	return s, effect{data: data, next: doStop}
}

// maxRetryAfter caps what a server may ask for.
const maxRetryAfter = 2 * time.Minute

// ceiling is the longest that the nth wait may take.
func (b Backoff) ceiling(n int) time.Duration {
	d := float64(b.Initial) * math.Pow(b.Factor, float64(n))
	if d >= float64(b.Max) { // +Inf too
		return b.Max
	}
	return time.Duration(d)
}

// wellFormed reports whether a version can be ordered, and so be a place to
// resume from.
func wellFormed(rv string) bool {
	_, err := object.CompareVersions(rv, rv)
	return err == nil
}
