package reflector

import "informer.example/object"

// page takes a complete page. The pages wait until the last one is there; only
// then is it known what they are worth (R1).
func (p policy) page(s state, in input) (state, effect) {
	if !wellFormed(in.rv) {
		// Without a version there is nothing to watch from, and no telling
		// whether the list is older than what the sink has.
		s.list = restart(s.list, "")
		s, eff := p.retry(s, in, modeList, dataDiscard)
		eff.fault = faultNoVersion
		return s, eff
	}
	if s.list.version == "" || object.Newer(s.list.version, in.rv) {
		s.list.version = in.rv
	}
	switch in.token {
	case "":
		return p.complete(s)
	case s.list.token:
		// A token that leads back to itself would never end.
		s.list = restart(s.list, s.list.rv)
		s.list.unpaged = true
		s, eff := p.retry(s, in, modeList, dataDiscard)
		eff.fault = faultLoop
		return s, eff
	}
	s.list.token = in.token
	return p.fetch(s, dataNone)
}

// complete judges the whole list against progress.
func (p policy) complete(s state) (state, effect) {
	reason := s.list.reason
	if object.Newer(s.progress, s.list.version) {
		if s.list.rv != "" {
			// A server that lags, and didn't keep to "not older than".
			s.list = restart(s.list, "")
			return p.fetch(s, dataDiscard)
		}
		// The most recent state is older than what was seen: history was
		// rewritten, and what the sink has never happened.
		reason = RelistRollback
	}
	s.progress, s.atProgress = s.list.version, object.Key{}
	s.failures = 0
	s.list = listState{}
	s, eff := p.open(s, dataCommit)
	eff.reason, eff.rv = reason, s.progress
	return s, eff
}

// listFailed decides what follows a page that couldn't be had.
func (p policy) listFailed(s state, in input) (state, effect) {
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
	case classRefused:
		return p.refused(s, in, modeList, dataNone)
	}
	// Everything else passes: the same page again. The pages before it keep;
	// when that takes too long, its token expires.
	return p.retry(s, in, modeList, dataNone)
}

// restart is the list from its first page, at version rv.
func restart(l listState, rv string) listState {
	return listState{reason: l.reason, rv: rv, unpaged: l.unpaged}
}
