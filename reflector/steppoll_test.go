package reflector

import (
	"testing"
	"time"
)

// TestStep_Polling: what can't be watched is listed again and again, if that
// is allowed.
func TestStep_Polling(t *testing.T) {
	p := streaming()
	p.poll = time.Minute
	pausing := func(s state, why polling) state {
		s.mode, s.after, s.polling = modeWait, modeList, why
		s.list = listState{reason: RelistPoll}
		return s
	}
	wait := effect{next: doWait, floor: time.Minute, ceiling: 6 * time.Second}
	commit := func(rv string, reason RelistReason) effect {
		eff := wait
		eff.data, eff.rv, eff.reason = dataCommit, rv, reason
		return eff
	}
	run(t, p, []stepCase{
		{
			why:  "a list without a version is one to poll",
			from: listing(listState{rv: "0"}), in: page("", ""),
			want: pausing(state{}, pollNoVersion),
			eff:  commit("", ""),
		},
		{
			why:  "so is one whose version can't be ordered",
			from: listing(listState{rv: "0"}), in: page("abc", ""),
			want: pausing(state{}, pollNoVersion),
			eff:  commit("", ""),
		},
		{
			why:  "the next poll asks for the most recent state, in pages",
			from: pausing(state{}, pollNoVersion), in: input{kind: inWaited},
			want: state{mode: modeList, after: modeList, polling: pollNoVersion, list: listState{reason: RelistPoll}},
			eff:  effect{next: doList, list: firstPage("")},
		},
		{
			why:  "a list that has a version after all is watched from",
			from: state{mode: modeList, polling: pollNoVersion, list: listState{reason: RelistPoll}}, in: page("10", ""),
			want: state{mode: modeOpen, progress: "10"},
			eff:  effect{data: dataCommit, reason: RelistPoll, rv: "10", next: doWatch, watch: "10"},
		},
		{
			why:  "F26: one that has had versions before is broken, not unversioned",
			from: relisting(listState{rv: "10"}), in: page("", ""),
			want: func() state {
				s := relisting(listState{})
				s.mode, s.after, s.failures, s.grown = modeWait, modeList, 1, 1
				return s
			}(),
			eff: effect{data: dataDiscard, fault: faultNoVersion, next: doWait, ceiling: initial},
		},
		{
			why:  "405 to the first watch-list: the list comes first, then the polls",
			from: state{mode: modeOpenList, list: listState{rv: "0", streamed: true}}, in: failure(classNoVerb),
			want: state{mode: modeList, noStreams: true, polling: pollNoWatch, tryWatch: watchAgain, list: listState{rv: "0"}},
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("0")},
		},
		{
			why:  "the list of it, and a pause",
			from: state{mode: modeList, polling: pollNoWatch, tryWatch: watchAgain, list: listState{rv: "0"}}, in: page("10", ""),
			want: pausing(state{progress: "10", tryWatch: watchAgain}, pollNoWatch),
			eff:  commit("10", ""),
		},
		{
			why:  "405 to a watch: the list was just made",
			from: state{mode: modeOpen, progress: "10"}, in: failure(classNoVerb),
			want: pausing(state{progress: "10", tryWatch: watchAgain}, pollNoWatch),
			eff:  wait,
		},
	})
}

// TestStep_WatchVerbReturns: a resource that couldn't be watched may be, one
// day: its definition was made anew, or the server behind it upgraded.
func TestStep_WatchVerbReturns(t *testing.T) {
	p := testPolicy()
	p.poll = time.Minute
	const lately, now = time.Hour, time.Hour + watchAgain
	at := func(d time.Duration, in input) input { in.now = d; return in }
	polled := func(m mode, tryWatch time.Duration) state {
		s := state{mode: m, progress: "10", polling: pollNoWatch, tryWatch: tryWatch, listed: lately, sure: lately}
		if m == modeList {
			s.list = listState{reason: RelistPoll}
		}
		return s
	}
	pausing := func(tryWatch, listed time.Duration) state {
		s := polled(modeList, tryWatch)
		s.mode, s.after, s.listed, s.sure = modeWait, modeList, listed, listed
		return s
	}
	opening := func() state {
		s := polled(modeOpen, now)
		s.listed, s.sure = now, now
		return s
	}
	failed := func(s state) state {
		s.mode, s.after, s.failures, s.grown = modeWait, modeList, 1, 1
		s.tryWatch = 0
		return s
	}
	wait := effect{next: doWait, floor: time.Minute, ceiling: 6 * time.Second}
	commit := func(eff effect) effect { eff.data, eff.rv, eff.reason = dataCommit, "10", RelistPoll; return eff }
	watch := effect{next: doWatch, watch: "10"}
	run(t, p, []stepCase{
		{
			why:  "not at every poll",
			from: polled(modeList, now), in: at(now-1, page("10", "")),
			want: pausing(now, now-1),
			eff:  commit(wait),
		},
		{
			why:  "but after a while, and from what was just listed",
			from: polled(modeList, now), in: at(now, page("10", "")),
			want: opening(),
			eff:  commit(watch),
		},
		{
			why:  "405 again: the polls go on, and it is no failure",
			from: opening(), in: at(now, failure(classNoVerb)),
			want: pausing(now+watchAgain, now),
			eff:  wait,
		},
		{
			why:  "nor do the polls wait for whatever else a watch may meet",
			from: opening(), in: at(now, failure(classPassing)),
			want: pausing(now+watchAgain, now),
			eff:  wait,
		},
		{
			why:  "or for one that is refused",
			from: opening(), in: at(now, failure(classRefused)),
			want: pausing(now+watchAgain, now),
			eff:  wait,
		},
		{
			why:  "or expired: the next poll lists anyway",
			from: opening(), in: at(now, failure(classExpired)),
			want: pausing(now+watchAgain, now),
			eff:  wait,
		},
		{
			why:  "accepted: it is watched from here on",
			from: opening(), in: at(now, input{kind: inOpened}),
			want: state{mode: modeStream, progress: "10", listed: now, sure: now, stream: streamState{opened: now}},
			eff:  effect{next: doRead},
		},
		{
			why:  "a poll that fails: who answers next may be another",
			from: polled(modeList, now), in: at(lately, failure(classRefused)),
			want: failed(polled(modeList, now)),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "so a watch follows the next list",
			from: polled(modeList, 0), in: at(lately, page("10", "")),
			want: polled(modeOpen, 0),
			eff:  commit(watch),
		},
	})
}
