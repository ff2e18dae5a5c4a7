package reflector

import (
	"time"

	"informer.example/object"
)

// event judges an event of the stream by its version alone.
func (p policy) event(s state, in input) (state, effect) {
	order, err := object.CompareVersions(in.rv, s.progress)
	switch {
	case in.event == Bookmark:
		switch {
		case err != nil || order < 0:
			return s, effect{data: dataDrop, next: doRead}
		case order == 0:
			s.sure = in.now
			return s, effect{data: dataFresh, next: doRead}
		}
		return s.moved(in, object.Key{}), effect{data: dataBookmark, rv: in.rv, next: doRead}
	case err != nil:
		// A change that can't be placed: what follows it can't be trusted.
		s, eff := p.relist(s, in, RelistBadFrame)
		eff.fault = faultUnplaced
		return s, eff
	case order < 0:
		return s, effect{data: dataDrop, next: doRead}
	case order == 0 && (in.event != Deleted || in.key == s.atProgress):
		// Two changes share a version only when a lease takes several objects
		// with it.
		return s, effect{data: dataDrop, next: doRead}
	}
	return s.moved(in, in.key), effect{data: dataApply, next: doRead}
}

// suspect is how long watches must have been silent for that to mean something:
// servers send a bookmark every minute.
const suspect = 2 * time.Minute

// doubtful reports whether the stream that just ended, however it did, leaves
// it open that the server is at progress at all. One that was restored from a
// backup is silent to whoever watches from a version that it hasn't reached.
func (p policy) doubtful(s state, in input) bool {
	return !s.stream.moved && in.now-s.sure >= suspect && !p.due(s, in)
}

// probe is the list that settles it.
func (s state) probe() listState { return listState{rv: s.progress, check: checkProbe} }

// moved is the state after live progress.
func (s state) moved(in input, key object.Key) state {
	s.progress, s.atProgress, s.sure = in.rv, key, in.now
	s.failures, s.fruitless = 0, 0
	s.stream.moved = true
	return s
}

// ended follows the clean end of a stream, which is no failure: servers end
// streams at their timeout, and when a reader is too slow. Streams that bring
// nothing and end at once are one.
func (p policy) ended(s state, in input) (state, effect) {
	s, lived := p.closed(s, in)
	switch {
	case s.stream.moved && lived < p.short:
		return p.breathe(s)
	case s.stream.moved:
		return p.resume(s, in)
	case lived >= p.short && p.doubtful(s, in):
		s.list = s.probe()
		return p.fetch(s, dataNone)
	case lived >= p.short:
		return p.resume(s, in)
	}
	s, eff := p.reopen(s, in, true)
	eff.fault = faultEmpty
	return s, eff
}

// breathe waits a little before the next watch, after one that brought something
// but was short. That is no failure; but if all of them are like that, as behind
// a proxy that takes the first bytes for the whole answer, it would be a busy loop.
func (p policy) breathe(s state) (state, effect) {
	s.mode, s.after = modeWait, modeOpen
	return s, effect{next: doWait, ceiling: p.backoff.Initial}
}

// reopen waits, and watches from where the last stream ended; it probes first
// if a stream has left a doubt.
func (p policy) reopen(s state, in input, streamed bool) (state, effect) {
	if streamed && p.doubtful(s, in) {
		s.list = s.probe()
		return p.retry(s, in, modeList, dataNone)
	}
	return p.retry(s, in, modeOpen, dataNone)
}

// watchFailed decides what follows a watch that couldn't be opened, or broke.
func (p policy) watchFailed(s state, in input) (state, effect) {
	streamed := s.mode == modeStream
	if streamed {
		s, _ = p.closed(s, in)
	}
	if s.polling != pollNo {
		// It was worth a try. The polls don't wait for it.
		return p.pause(s.unwatchable(in.now), dataNone)
	}
	switch in.class {
	case classExpired:
		return p.relist(s, in, RelistExpired)
	case classTooLarge:
		return p.relist(s, in, RelistTooLarge)
	case classUndecodable:
		return p.relist(s, in, RelistBadFrame)
	case classInvalid:
		return p.relist(s, in, RelistRejected)
	case classNoVerb:
		if p.poll > 0 {
			return p.pause(s.unwatchable(in.now), dataNone)
		}
		return p.refused(s, in, modeOpen, dataNone)
	case classRefused:
		return p.refused(s, in, modeOpen, dataNone)
	}
	// Nothing is lost: the next watch begins where this one ended (R4).
	return p.reopen(s, in, streamed)
}

// closed resets the backoff if the stream that just ended was a healthy one.
func (p policy) closed(s state, in input) (_ state, lived time.Duration) {
	lived = in.now - s.stream.opened
	if lived >= p.backoff.Healthy {
		s.grown = 0
	}
	return s, lived
}

// relist waits, and lists again: at least what the sink has or, if that version
// itself is the trouble or hasn't helped before, the most recent state.
func (p policy) relist(s state, in input, reason RelistReason) (state, effect) {
	s.fruitless++
	s.list = p.newList(s, reason, s.progress)
	if s.fruitless > 1 || reason == RelistTooLarge || reason == RelistRejected {
		s.list.rv = ""
	}
	return p.retry(s, in, modeList, dataNone)
}
