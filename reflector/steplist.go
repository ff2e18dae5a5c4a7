package reflector

import (
	"time"

	"informer.example/object"
)

// page takes a complete page. The pages wait until the last one is there; only
// then is it known what they are worth (R1).
func (p policy) page(s state, in input) (state, effect) {
	if s.list.check == checkProbe {
		return p.probed(s, in)
	}
	switch {
	case !wellFormed(in.rv) && (p.poll == 0 || s.progress != ""):
		// Without a version there is nothing to watch from, and no telling
		// whether the list is older than what the sink has.
		return p.noList(s, in, faultNoVersion, restart(s.list, ""))
	case !wellFormed(in.rv):
		s.list.unversioned = true
	case s.list.version == "" || object.Newer(s.list.version, in.rv):
		s.list.version = in.rv
	}
	switch in.token {
	case "":
		return p.complete(s, in)
	case s.list.token, s.list.mark:
		// Tokens that lead back to one of them would never end.
		all := restart(s.list, s.list.rv)
		all.unpaged = true
		return p.noList(s, in, faultLoop, all)
	}
	s.list.token = in.token
	if s.list.pages++; s.list.pages&(s.list.pages-1) == 0 {
		s.list.mark = in.token
	}
	return p.fetch(s, dataNone)
}

// noList follows a page that came and is of no use: the next list instead.
func (p policy) noList(s state, in input, f fault, next listState) (_ state, eff effect) {
	if s.list.check != checkNone {
		s, eff = p.checkFailed(s, in)
	} else {
		s.list = next
		s, eff = p.retry(s, in, modeList, dataDiscard)
	}
	eff.fault = f
	return s, eff
}

// complete judges a whole list, and commits it or asks for a newer one.
func (p policy) complete(s state, in input) (state, effect) {
	if s.list.unversioned {
		s.polling, s.list.version = pollNoVersion, ""
	} else if s.polling == pollNoVersion {
		s.polling = pollNo // it has versions after all
	}
	if object.Newer(s.progress, s.list.version) && s.list.rv != "" {
		// A server that lags, and didn't keep to "not older than".
		s.list = restart(s.list, "")
		return p.fetch(s, dataDiscard)
	}
	s, reason := committed(s, in)
	var eff effect
	if s.polling != pollNo {
		s, eff = p.polled(s, in)
	} else {
		s, eff = p.open(s, in, dataCommit)
	}
	eff.reason, eff.rv = reason, s.progress
	return s, eff
}

// committed is the state after the list in flight, and why there was one.
func committed(s state, in input) (state, RelistReason) {
	reason := s.list.reason
	if object.Newer(s.progress, s.list.version) {
		// The most recent state is older than what was seen: history was
		// rewritten, and what the sink has never happened.
		reason = RelistRollback
	}
	s.progress, s.atProgress = s.list.version, object.Key{}
	s.failures, s.listed, s.sure = 0, in.now, in.now
	s.list = listState{}
	return s, reason
}

// probed follows the answer to a probe. That there is one says that the server
// has reached progress, unless it says otherwise itself.
func (p policy) probed(s state, in input) (state, effect) {
	if object.Newer(s.progress, in.rv) {
		s.list = p.newList(s, RelistTooLarge, "")
		return p.fetch(s, dataDiscard)
	}
	s.list = listState{}
	s.failures, s.sure = 0, in.now
	return p.open(s, in, dataDiscard)
}

// listFailed decides what follows a page that couldn't be had.
func (p policy) listFailed(s state, in input) (state, effect) {
	if s.list.check != checkNone {
		return p.checkFailed(s, in)
	}
	s.tryWatch = 0 // who answers next may be another, that knows watches
	switch in.class {
	case classExpired, classTooLarge:
		// Not again at this version. The token that a server adds to an
		// expired one continues at a newer version than the pages at hand,
		// which is no list of any moment: it is never used.
		atLatest := s.list.rv == ""
		s.list.unpaged = s.list.unpaged || (atLatest && s.list.token != "")
		s.list = restart(s.list, "")
		if atLatest {
			return p.retry(s, in, modeList, dataDiscard)
		}
		return p.fetch(s, dataDiscard)
	case classInvalid:
		s.list = restart(s.list, "")
		return p.retry(s, in, modeList, dataDiscard)
	case classUndecodable:
		s.list = restart(s.list, s.list.rv)
		return p.retry(s, in, modeList, dataDiscard)
	case classRefused, classNoVerb:
		return p.refused(s, in, modeList, dataNone)
	}
	// Everything else passes: the same page again. The pages before it keep;
	// when that takes too long, its token expires.
	return p.retry(s, in, modeList, dataNone)
}

// checkFailed decides what follows a check that couldn't be made. It is never a
// reason to be without a watch.
func (p policy) checkFailed(s state, in input) (state, effect) {
	verifying := s.list.check != checkProbe
	switch {
	case in.class == classTooLarge:
		s.list = p.newList(s, RelistTooLarge, "") // the check has found something
		return p.fetch(s, dataDiscard)
	case in.class == classExpired && s.list.check == checkState:
		// It can't be asked any more what was at that version. A newer state
		// mends what is wrong, though it doesn't tell whether anything was.
		s.list = listState{reason: RelistVerify, rv: s.progress, check: checkNewer}
		return p.fetch(s, dataDiscard)
	}
	s.list = listState{}
	s, eff := p.retry(s, in, modeOpen, dataDiscard)
	if verifying {
		// A watch comes first: without one the sink would fall behind for as
		// long as verifications fail. The next is made a while after the wait
		// or, when this one was refused, at its time.
		later := min(checkAgain, p.verify)
		if in.class == classRefused || in.class == classNoVerb || in.class == classInvalid {
			later = p.verify
		}
		s.listed = in.now + eff.floor + eff.ceiling + later - p.verify
	}
	return s, eff
}

// checkAgain is how long the watch lives that lies between a verification that
// failed and the next.
const checkAgain = time.Minute

// restart is the list from its beginning, at version rv. What began as a check
// goes on as a list like any other.
func restart(l listState, rv string) listState {
	return listState{reason: l.reason, rv: rv, unpaged: l.unpaged, streamed: l.streamed, tries: l.tries}
}
