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
		s.list = p.newList(s, "", "0") // whatever the server has at hand
		return p.fetch(s, dataNone)
	case inWaited:
		if s.after == modeOpen {
			return p.resume(s, in)
		}
		return p.fetch(s, dataNone)
	case inPage:
		return p.page(s, in)
	case inOpened:
		s.stream = streamState{opened: in.now}
		if s.mode == modeOpenList {
			s.mode = modeStage
		} else {
			s.mode, s.tryWatch = modeStream, 0
			s.polling = pollNo // if it was tried again: it can be watched now
		}
		return s, effect{next: doRead}
	case inEvent:
		if s.mode == modeStage {
			return p.stage(s, in)
		}
		return p.event(s, in)
	case inEnded:
		if s.mode == modeStage {
			return p.unmarked(s, in)
		}
		return p.ended(s, in)
	case inFailed:
		switch s.mode {
		case modeList:
			return p.listFailed(s, in)
		case modeOpenList, modeStage:
			return p.stageFailed(s, in)
		}
		return p.watchFailed(s, in)
	}
	return s, effect{next: doStop}
}

// newList is a list of everything, from its beginning.
func (p policy) newList(s state, reason RelistReason, rv string) listState {
	return listState{reason: reason, rv: rv, streamed: p.streams && !s.noStreams && s.polling == pollNo}
}

// fetch asks for the list, or the page of it, that the state stands for.
func (p policy) fetch(s state, data dataEffect) (state, effect) {
	if s.list.streamed {
		s.mode = modeOpenList
		return s, effect{data: data, next: doWatch, watch: s.list.rv, initial: true}
	}
	s.mode = modeList
	return s, effect{data: data, next: doList, list: p.request(s.list)}
}

// open asks for a watch from where the sink is.
func (p policy) open(s state, in input, data dataEffect) (state, effect) {
	s.mode = modeOpen
	eff := effect{data: data, next: doWatch, watch: s.progress}
	if p.verify > 0 { // not to be late for the next verification
		eff.within = max(p.verify-(in.now-s.listed), p.short)
	}
	return s, eff
}

// resume opens the next watch, or, when it is time, makes sure first that the
// sink has what the server has at this very version.
func (p policy) resume(s state, in input) (state, effect) {
	if !p.due(s, in) {
		return p.open(s, in, dataNone)
	}
	s.list = listState{reason: RelistVerify, rv: s.progress, check: checkState}
	return p.fetch(s, dataNone)
}

// due reports whether it is time to verify.
func (p policy) due(s state, in input) bool {
	return p.verify > 0 && in.now-s.listed >= p.verify
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
