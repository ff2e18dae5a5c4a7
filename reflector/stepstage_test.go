package reflector

import (
	"testing"
	"time"

	"informer.example/object"
)

// streamedFirst is a machine whose first watch-list is open.
func streamedFirst() state {
	return state{mode: modeStage, list: listState{rv: "0", streamed: true}}
}

// restaging is one that has had version 10 before, and asks for it again.
func restaging(rv string) state {
	return state{mode: modeStage, progress: "10", fruitless: 1, list: listState{reason: RelistExpired, rv: rv, streamed: true}}
}

func marker(rv string) input { return input{kind: inEvent, event: Bookmark, marker: true, rv: rv} }

func TestStep_WatchList(t *testing.T) {
	waiting := func(s state, change func(*state)) state {
		s.mode, s.after = modeWait, modeList
		s.failures++
		s.grown++
		s.list.tries++
		change(&s)
		return s
	}
	asIs := func(*state) {}
	paged := func(s state) state {
		s.mode, s.noStreams, s.list.streamed = modeList, true, false
		return s
	}
	opening := func(s state) state { s.mode = modeOpenList; return s }
	committed := func(rv string, fruitless int) state {
		return state{mode: modeStream, progress: rv, fruitless: fruitless, stream: streamState{moved: true}}
	}
	atLatest := restaging("")
	thrice := restaging("10")
	thrice.list.tries = 2
	run(t, streaming(), []stepCase{
		{
			why:  "the first state is asked for as a watch-list, from whatever the server has at hand",
			from: state{}, in: input{kind: inStart},
			want: opening(streamedFirst()),
			eff:  effect{next: doWatch, watch: "0", initial: true},
		},
		{
			why:  "once accepted it is staged",
			from: opening(streamedFirst()), in: input{kind: inOpened},
			want: streamedFirst(),
			eff:  effect{next: doRead},
		},
		{
			why:  "an object of the state waits; its version means nothing",
			from: restaging("10"), in: live(Added, keyA, "3"),
			want: restaging("10"),
			eff:  effect{data: dataStage, next: doRead},
		},
		{
			why:  "the marker commits, and the stream goes on as the watch",
			from: streamedFirst(), in: marker("10"),
			want: committed("10", 0),
			eff:  effect{data: dataCommit, rv: "10", next: doRead},
		},
		{
			why:  "again, for a reason",
			from: restaging("10"), in: marker("12"),
			want: committed("12", 1),
			eff:  effect{data: dataCommit, reason: RelistExpired, rv: "12", next: doRead},
		},
		{
			why:  "F22: a state older than progress is dropped, and the most recent one asked for",
			from: restaging("10"), in: marker("9"),
			want: opening(atLatest),
			eff:  effect{data: dataDiscard, next: doWatch, initial: true},
		},
		{
			why:  "F55: the most recent state older than progress proves a rollback",
			from: atLatest, in: marker("9"),
			want: committed("9", 1),
			eff:  effect{data: dataCommit, reason: RelistRollback, rv: "9", next: doRead},
		},
		{
			why:  "F26: a marker without a version: pages, whose version may be better",
			from: streamedFirst(), in: marker(""),
			want: paged(streamedFirst()),
			eff:  effect{data: dataDiscard, fault: faultNoVersion, next: doList, list: firstPage("0")},
		},
		{
			why:  "F43: a plain bookmark before the marker: there will be none",
			from: streamedFirst(), in: live(Bookmark, object.Key{}, "10"),
			want: paged(streamedFirst()),
			eff:  effect{data: dataDiscard, fault: faultForeign, next: doList, list: firstPage("0")},
		},
		{
			why:  "a change before the marker: the same",
			from: streamedFirst(), in: live(Modified, keyA, "10"),
			want: paged(streamedFirst()),
			eff:  effect{data: dataDiscard, fault: faultForeign, next: doList, list: firstPage("0")},
		},
		{
			why:  "F39: an old server calls it invalid: pages at once, and for good",
			from: opening(restaging("10")), in: failure(classInvalid),
			want: paged(restaging("10")),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("10")},
		},
		{
			why:  "no watch verb: the list shows what can be had",
			from: opening(streamedFirst()), in: failure(classNoVerb),
			want: paged(streamedFirst()),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("0")},
		},
		{
			why:  "F38: the server hasn't reached the version: the most recent state, at once",
			from: restaging("10"), in: failure(classTooLarge),
			want: opening(atLatest),
			eff:  effect{data: dataDiscard, next: doWatch, initial: true},
		},
		{
			why:  "F38: nor the most recent one: wait",
			from: atLatest, in: failure(classTooLarge),
			want: waiting(atLatest, asIs),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F35: a clean end before the marker: nothing was had",
			from: restaging("10"), in: input{kind: inEnded, now: time.Hour},
			want: waiting(restaging("10"), asIs),
			eff:  effect{data: dataDiscard, fault: faultUnmarked, next: doWait, ceiling: initial},
		},
		{
			why:  "a broken stream: the same",
			from: restaging("10"), in: failure(classPassing),
			want: waiting(restaging("10"), asIs),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "after the wait, a watch-list again",
			from: waiting(restaging("10"), asIs), in: input{kind: inWaited},
			want: func() state { s := waiting(restaging("10"), asIs); s.mode = modeOpenList; return s }(),
			eff:  effect{next: doWatch, watch: "10", initial: true},
		},
		{
			why:  "the third stream that breaks: pages, this time",
			from: thrice, in: failure(classPassing),
			want: waiting(thrice, func(s *state) { s.list.streamed = false }),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F12: a server that is busy isn't one that can't: it doesn't count as a try",
			from: opening(restaging("10")), in: input{kind: inFailed, class: classPassing, retryAfter: time.Second},
			want: waiting(opening(restaging("10")), func(s *state) { s.list.tries = 0 }),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial, floor: time.Second},
		},
		{
			why:  "F43: the marker is overdue: pages, for good",
			from: restaging("10"), in: failure(classSilent),
			want: waiting(restaging("10"), func(s *state) { s.noStreams, s.list.streamed = true, false }),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F2: never accepted: that may be the connection; it counts as a try",
			from: opening(restaging("10")), in: failure(classSilent),
			want: waiting(opening(restaging("10")), asIs),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F46: a frame that can't be read: nothing was had",
			from: restaging("10"), in: failure(classUndecodable),
			want: waiting(restaging("10"), asIs),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F9: refused: perhaps the list isn't",
			from: opening(streamedFirst()), in: failure(classRefused),
			want: waiting(opening(streamedFirst()), asIs),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "a relist is a watch-list too",
			from: synced(), in: failure(classExpired),
			want: func() state {
				s := waiting(restaging("10"), func(s *state) { s.list.tries = 0 })
				return s
			}(),
			eff: effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F43: a marker on a plain stream, or a second one, is a bookmark",
			from: synced(), in: marker("11"),
			want: func() state { s := synced(); s.progress, s.stream.moved = "11", true; return s }(),
			eff:  effect{data: dataBookmark, rv: "11", next: doRead},
		},
	})
	fast := streaming()
	fast.failFast = true
	for _, class := range []errorClass{classRefused, classNoVerb} {
		s, eff := fast.step(opening(streamedFirst()), failure(class))
		if s.mode != modeStopped || eff.next != doStop {
			t.Errorf("class %d, asked to fail fast: %+v", class, eff)
		}
	}
}

// TestStep_Checks: verifications and probes.
func TestStep_Checks(t *testing.T) {
	p := streaming()
	p.verify = time.Hour
	at := func(d time.Duration, in input) input { in.now = d; return in }
	checking := func(c checking, rv string) state {
		s := state{mode: modeList, progress: "10", list: listState{rv: rv, check: c}}
		if c == checkState {
			s.list.reason = RelistVerify
		}
		return s
	}
	exactly := ListOptions{ResourceVersion: "10", ResourceVersionMatch: "Exact", Limit: 500}
	one := ListOptions{ResourceVersion: "10", ResourceVersionMatch: notOlder, Limit: 1}
	moved := synced()
	moved.stream.moved = true
	movedChecking := checking(checkState, "10")
	movedChecking.stream = moved.stream
	afresh := func(reason RelistReason, rv string) state {
		return state{mode: modeOpenList, progress: "10", list: listState{reason: reason, rv: rv, streamed: true}}
	}
	waiting := func(s state) state {
		s.mode, s.after, s.list = modeWait, modeOpen, listState{}
		s.failures++
		s.grown++
		return s
	}
	laterOn := func(s state) state {
		s = waiting(s)
		s.listed = time.Hour + initial + time.Minute
		return s
	}
	newer, circle := checking(checkState, "10"), checking(checkState, "10")
	newer.list.check = checkNewer
	circle.list.token = "t1"
	fresh := func(s state) state { s.grown = 0; return s }
	run(t, p, []stepCase{
		{
			why:  "a watch lives no longer than until the next verification",
			from: state{mode: modeStream, progress: "10", listed: 10 * time.Minute, stream: streamState{moved: true}}, in: at(40*time.Minute, input{kind: inEnded}),
			want: state{mode: modeOpen, progress: "10", listed: 10 * time.Minute, stream: streamState{moved: true}},
			eff:  effect{next: doWatch, watch: "10", within: 30 * time.Minute},
		},
		{
			why:  "F49: when it is time, the state at exactly this version is fetched",
			from: moved, in: at(time.Hour, input{kind: inEnded}),
			want: movedChecking,
			eff:  effect{next: doList, list: exactly},
		},
		{
			why:  "it is committed: whatever differs was missed",
			from: checking(checkState, "10"), in: at(time.Hour, page("10", "")),
			want: state{mode: modeOpen, progress: "10", listed: time.Hour, sure: time.Hour},
			eff:  effect{data: dataCommit, reason: RelistVerify, rv: "10", next: doWatch, watch: "10", within: time.Hour},
		},
		{
			why:  "that version is gone: a newer state does as well",
			from: checking(checkState, "10"), in: failure(classExpired),
			want: newer,
			eff:  effect{data: dataDiscard, next: doList, list: ListOptions{ResourceVersion: "10", ResourceVersionMatch: notOlder, Limit: 500}},
		},
		{
			why:  "which is a check like the other, and no reason to be without a watch either",
			from: newer, in: at(2*time.Hour, failure(classExpired)),
			want: laterOn(newer),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F26: nor is a list without a version",
			from: checking(checkState, "10"), in: at(2*time.Hour, page("", "")),
			want: laterOn(checking(checkState, "10")),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial, fault: faultNoVersion},
		},
		{
			why:  "nor one whose pages lead back to themselves",
			from: circle, in: at(2*time.Hour, page("10", "t1")),
			want: laterOn(circle),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial, fault: faultLoop},
		},
		{
			why:  "F55: the server isn't there yet, though it was: the most recent state tells",
			from: checking(checkState, "10"), in: failure(classTooLarge),
			want: afresh(RelistTooLarge, ""),
			eff:  effect{data: dataDiscard, next: doWatch, initial: true},
		},
		{
			why:  "a check that fails is no reason to be without a watch: the next waits behind one",
			from: checking(checkState, "10"), in: at(2*time.Hour, failure(classPassing)),
			want: laterOn(checking(checkState, "10")),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "one that is refused is not made again at once",
			from: checking(checkState, "10"), in: at(2*time.Hour, failure(classRefused)),
			want: func() state { s := waiting(checking(checkState, "10")); s.listed = 2*time.Hour + initial; return s }(),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "K25: a watch without a sign of life: is the server where it was?",
			from: synced(), in: at(10*time.Minute, input{kind: inEnded}),
			want: fresh(checking(checkProbe, "10")),
			eff:  effect{next: doList, list: one},
		},
		{
			why:  "it is",
			from: checking(checkProbe, "10"), in: at(10*time.Minute, page("12", "t1")),
			want: state{mode: modeOpen, progress: "10", sure: 10 * time.Minute},
			eff:  effect{data: dataDiscard, next: doWatch, watch: "10", within: 50 * time.Minute},
		},
		{
			why:  "F55: it isn't",
			from: checking(checkProbe, "10"), in: failure(classTooLarge),
			want: afresh(RelistTooLarge, ""),
			eff:  effect{data: dataDiscard, next: doWatch, initial: true},
		},
		{
			why:  "F55: it says so in its own way",
			from: checking(checkProbe, "10"), in: page("9", ""),
			want: afresh(RelistTooLarge, ""),
			eff:  effect{data: dataDiscard, next: doWatch, initial: true},
		},
		{
			why:  "a probe that fails otherwise says nothing",
			from: checking(checkProbe, "10"), in: failure(classRefused),
			want: waiting(checking(checkProbe, "10")),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
	})
}
