package reflector

import "informer.example/object"

// mostTries is how many streams of one watch-list may break before the list is
// fetched in pages instead. The next list is tried as a watch-list again.
const mostTries = 3

// stage takes an event of a watch-list before its end. Its objects wait until
// the marker has come; only then are they a state of the server (R1).
func (p policy) stage(s state, in input) (state, effect) {
	switch {
	case in.event == Added:
		// The versions of initial objects are in no order, and say nothing.
		return s, effect{data: dataStage, next: doRead}
	case in.event == Bookmark && in.marker:
		return p.marked(s, in)
	}
	// A server that doesn't know watch-lists and has begun an ordinary watch,
	// or one that mixes changes into the state. Neither can be told from a
	// marker that will never come.
	return p.withoutStreams(s, faultForeign)
}

// marked follows the marker: the state is complete, and what comes next on the
// same stream are its changes.
func (p policy) marked(s state, in input) (state, effect) {
	if !wellFormed(in.rv) {
		return p.withoutStreams(s, faultNoVersion)
	}
	if object.Newer(s.progress, in.rv) && s.list.rv != "" {
		s.list = restart(s.list, "") // it lags, and didn't keep to "not older than"
		return p.fetch(s, dataDiscard)
	}
	s.list.version = in.rv
	s, reason := committed(s, in)
	s.mode = modeStream
	s.stream.moved = true
	return s, effect{data: dataCommit, reason: reason, rv: s.progress, next: doRead}
}

// unmarked follows a stream that ended cleanly, but too early.
func (p policy) unmarked(s state, in input) (state, effect) {
	s, eff := p.tryAgain(s, in)
	eff.fault = faultUnmarked
	return s, eff
}

// stageFailed decides what follows a watch-list that couldn't be opened, or
// broke before its marker. What had come of it is worth nothing.
func (p policy) stageFailed(s state, in input) (state, effect) {
	switch in.class {
	case classExpired, classTooLarge:
		if s.list.rv == "" {
			return p.tryAgain(s, in)
		}
		s.list = restart(s.list, "")
		return p.fetch(s, dataDiscard)
	case classInvalid:
		return p.withoutStreams(s, faultNone)
	case classNoVerb:
		if p.poll > 0 {
			s = s.unwatchable(in.now)
		} else if p.failFast {
			return p.refused(s, in, modeList, dataDiscard)
		}
		return p.withoutStreams(s, faultNone)
	case classRefused:
		if p.failFast {
			return p.refused(s, in, modeList, dataDiscard)
		}
		return p.tryAgain(s, in)
	case classSilent:
		if s.mode == modeStage {
			// The marker is overdue. A dead connection looks the same; lists
			// and watches are right in either case.
			s.noStreams = true
			s.list.streamed = false
		}
		return p.tryAgain(s, in)
	case classPassing:
		if s.mode == modeOpenList { // not the watch-list's fault
			return p.retry(s, in, modeList, dataDiscard)
		}
	}
	return p.tryAgain(s, in)
}

// tryAgain waits, and asks for the same state again: as a watch-list, or in
// pages when that has been tried often enough.
func (p policy) tryAgain(s state, in input) (state, effect) {
	s.list.tries++
	if s.list.tries >= mostTries {
		s.list.streamed = false
	}
	return p.retry(s, in, modeList, dataDiscard)
}

// withoutStreams asks for the same state in pages, at once: it is another
// question, not the same one again. Watch-lists aren't tried any more.
func (p policy) withoutStreams(s state, f fault) (state, effect) {
	s.noStreams = true
	s.list.streamed = false
	s, eff := p.fetch(s, dataDiscard)
	eff.fault = f
	return s, eff
}
