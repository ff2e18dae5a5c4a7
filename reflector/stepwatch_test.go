package reflector

import (
	"testing"
	"time"

	"informer.example/object"
)

func TestStep_Events(t *testing.T) {
	moved := func(rv string, key object.Key) state {
		s := synced()
		s.progress, s.atProgress, s.stream.moved = rv, key, true
		return s
	}
	troubled := synced()
	troubled.failures, troubled.grown, troubled.fruitless = 3, 3, 2
	recovered := moved("11", keyA)
	recovered.grown = 3
	relist := func(s state, reason RelistReason, rv string) state {
		s.mode, s.after, s.failures, s.grown, s.fruitless = modeWait, modeList, 1, 1, 1
		s.list = listState{reason: reason, rv: rv}
		return s
	}
	run(t, testPolicy(), []stepCase{
		{
			why:  "an accepted watch is read",
			from: state{mode: modeOpen, progress: "10"}, in: input{kind: inOpened, now: 7 * time.Second},
			want: state{mode: modeStream, progress: "10", stream: streamState{opened: 7 * time.Second}},
			eff:  effect{next: doRead},
		},
		{
			why:  "a newer event is applied, and progress moves",
			from: synced(), in: live(Added, keyA, "11"),
			want: moved("11", keyA),
			eff:  effect{data: dataApply, next: doRead},
		},
		{
			why:  "an event ends the count of failures; the backoff waits for a healthy while",
			from: troubled, in: live(Modified, keyA, "11"),
			want: recovered,
			eff:  effect{data: dataApply, next: doRead},
		},
		{
			why:  "F47: an older event is a replay",
			from: synced(), in: live(Modified, keyA, "9"),
			want: synced(),
			eff:  effect{data: dataDrop, next: doRead},
		},
		{
			why:  "F47: versions are numbers, not words",
			from: synced(), in: live(Modified, keyA, "9999999999999999999999"),
			want: moved("9999999999999999999999", keyA),
			eff:  effect{data: dataApply, next: doRead},
		},
		{
			why:  "F47: the same event again",
			from: moved("11", keyA), in: live(Deleted, keyA, "11"),
			want: moved("11", keyA),
			eff:  effect{data: dataDrop, next: doRead},
		},
		{
			why:  "F47: what a list at this version has already",
			from: synced(), in: live(Added, keyA, "10"),
			want: synced(),
			eff:  effect{data: dataDrop, next: doRead},
		},
		{
			why:  "F49: a lease takes several objects in one version",
			from: moved("11", keyA), in: live(Deleted, keyB, "11"),
			want: moved("11", keyB),
			eff:  effect{data: dataApply, next: doRead},
		},
		{
			why:  "an event without a version can't be placed: what follows can't be trusted",
			from: synced(), in: live(Added, keyA, ""),
			want: relist(synced(), RelistBadFrame, "10"),
			eff:  effect{fault: faultUnplaced, next: doWait, ceiling: initial},
		},
		{
			why:  "a bookmark moves progress",
			from: synced(), in: live(Bookmark, object.Key{}, "20"),
			want: moved("20", object.Key{}),
			eff:  effect{data: dataBookmark, rv: "20", next: doRead},
		},
		{
			why:  "F44: a bookmark may repeat itself; that is no progress",
			from: synced(), in: live(Bookmark, object.Key{}, "10"),
			want: synced(),
			eff:  effect{data: dataFresh, next: doRead},
		},
		{
			why:  "a bookmark doesn't move progress back",
			from: synced(), in: live(Bookmark, object.Key{}, "9"),
			want: synced(),
			eff:  effect{data: dataDrop, next: doRead},
		},
		{
			why:  "F42: a bookmark without a version says nothing",
			from: synced(), in: live(Bookmark, object.Key{}, ""),
			want: synced(),
			eff:  effect{data: dataDrop, next: doRead},
		},
	})
}

func TestStep_StreamEnds(t *testing.T) {
	at := func(d time.Duration, in input) input { in.now = d; return in }
	ended := input{kind: inEnded}
	movedStream := synced()
	movedStream.stream.moved = true
	grown := synced()
	grown.grown, grown.failures = 4, 4
	grownMoved := grown
	grownMoved.stream.moved = true
	reopened := func(s state) state { s.mode = modeOpen; return s }
	waiting := func(s state, after mode) state {
		s.mode, s.after = modeWait, after
		s.failures++
		s.grown++
		return s
	}
	doubting := func(s state) state {
		s = waiting(s, modeList)
		s.list = listState{rv: s.progress, check: checkProbe}
		return s
	}
	short := synced()
	short.stream.opened = time.Hour
	fresh := func(s state) state { s.grown = 0; return s }
	relisting := func(s state, reason RelistReason, rv string) state {
		s = waiting(s, modeList)
		s.fruitless++
		s.list = listState{reason: reason, rv: rv}
		return s
	}
	again := synced()
	again.fruitless = 1
	run(t, testPolicy(), []stepCase{
		{
			why:  "a stream that lived ends cleanly: the next begins where it ended",
			from: synced(), in: at(5*time.Second, ended),
			want: reopened(synced()),
			eff:  effect{next: doWatch, watch: "10"},
		},
		{
			why:  "F34: a stream that brought something and was cut: the same",
			from: movedStream, in: at(5*time.Second, ended),
			want: reopened(movedStream),
			eff:  effect{next: doWatch, watch: "10"},
		},
		{
			why:  "F34: cut very soon: the same after a short wait, which is no failure and doesn't grow",
			from: movedStream, in: at(5*time.Second-1, ended),
			want: state{mode: modeWait, after: modeOpen, progress: "10", stream: movedStream.stream},
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F33: an empty stream that ends at once is a failure",
			from: synced(), in: at(time.Second, ended),
			want: waiting(synced(), modeOpen),
			eff:  effect{fault: faultEmpty, next: doWait, ceiling: initial},
		},
		{
			why:  "F33: and again: the backoff grows",
			from: grown, in: at(time.Second, ended),
			want: waiting(grown, modeOpen),
			eff:  effect{fault: faultEmpty, next: doWait, ceiling: 12800 * time.Millisecond},
		},
		{
			why:  "after the wait the watch resumes",
			from: waiting(synced(), modeOpen), in: input{kind: inWaited},
			want: reopened(waiting(synced(), modeOpen)),
			eff:  effect{next: doWatch, watch: "10"},
		},
		{
			why:  "F4: a broken stream: resume, never relist",
			from: movedStream, in: at(time.Hour, failure(classPassing)),
			want: waiting(movedStream, modeOpen),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F55: streams that brought nothing for minutes, however they ended: the next wait is followed by a probe",
			from: synced(), in: at(2*time.Minute, failure(classSilent)),
			want: doubting(synced()),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F55: the same for one that was too short to be followed by another at once",
			from: short, in: at(time.Hour+time.Second, ended),
			want: doubting(short),
			eff:  effect{next: doWait, ceiling: initial, fault: faultEmpty},
		},
		{
			why:  "a stream that lived long enough resets the backoff",
			from: grownMoved, in: at(time.Minute, failure(classPassing)),
			want: waiting(fresh(grownMoved), modeOpen),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "one that didn't, doesn't, whatever it brought",
			from: grownMoved, in: at(59*time.Second, failure(classPassing)),
			want: waiting(grownMoved, modeOpen),
			eff:  effect{next: doWait, ceiling: 12800 * time.Millisecond},
		},
		{
			why:  "F1: a watch that can't be opened: its age is nothing to go by",
			from: reopened(grown), in: at(time.Hour, failure(classPassing)),
			want: waiting(reopened(grown), modeOpen),
			eff:  effect{next: doWait, ceiling: 12800 * time.Millisecond},
		},
		{
			why:  "F36: expired: at least what the sink has",
			from: synced(), in: at(time.Second, failure(classExpired)),
			want: relisting(synced(), RelistExpired, "10"),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F37: expired when opening: the same",
			from: reopened(synced()), in: failure(classExpired),
			want: relisting(reopened(synced()), RelistExpired, "10"),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "I5: expired again without progress between: the most recent state",
			from: again, in: at(time.Second, failure(classExpired)),
			want: relisting(again, RelistExpired, ""),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "the server is behind: the most recent state",
			from: synced(), in: at(time.Second, failure(classTooLarge)),
			want: relisting(synced(), RelistTooLarge, ""),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F46: a frame that can't be read: a change is missing",
			from: synced(), in: at(time.Second, failure(classUndecodable)),
			want: relisting(synced(), RelistBadFrame, "10"),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "the request was called invalid: perhaps the version in it",
			from: reopened(synced()), in: failure(classInvalid),
			want: relisting(reopened(synced()), RelistRejected, ""),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F9: refused: the sink keeps what it has",
			from: reopened(synced()), in: failure(classRefused),
			want: waiting(reopened(synced()), modeOpen),
			eff:  effect{next: doWait, ceiling: initial},
		},
	})
}
