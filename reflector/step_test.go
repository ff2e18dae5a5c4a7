package reflector

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

const (
	notOlder = metav1.ResourceVersionMatchNotOlderThan
	initial  = 800 * time.Millisecond
)

func testPolicy() policy { return Options{}.withDefaults().policy() }

var (
	keyA = object.Key{Namespace: "n", Name: "a"}
	keyB = object.Key{Namespace: "n", Name: "b"}
)

// synced is a machine that has listed at 10 and reads a stream opened at 0.
func synced() state { return state{mode: modeStream, progress: "10"} }

// listing is a machine whose first list is in flight.
func listing(l listState) state { return state{mode: modeList, list: l} }

// relisting is a machine that has listed at 10 before.
func relisting(l listState) state {
	return state{mode: modeList, progress: "10", fruitless: 1, list: l}
}

func page(rv, token string) input { return input{kind: inPage, rv: rv, token: token} }
func failure(c errorClass) input  { return input{kind: inFailed, class: c} }
func live(t EventType, key object.Key, rv string) input {
	return input{kind: inEvent, event: t, key: key, rv: rv}
}

func firstPage(rv string) ListOptions {
	o := ListOptions{ResourceVersion: rv, Limit: 500}
	if rv != "" {
		o.ResourceVersionMatch = notOlder
	}
	return o
}

type stepCase struct {
	why  string
	from state
	in   input
	want state
	eff  effect
}

func run(t *testing.T, p policy, cases []stepCase) {
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			got, eff := p.step(c.from, c.in)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(state{}, listState{}, streamState{})); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.eff, eff, cmp.AllowUnexported(effect{})); diff != "" {
				t.Errorf("effect (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStep_List(t *testing.T) {
	run(t, testPolicy(), []stepCase{
		{
			why:  "the first list takes whatever the server has at hand",
			from: state{}, in: input{kind: inStart},
			want: listing(listState{rv: "0"}),
			eff:  effect{next: doList, list: firstPage("0")},
		},
		{
			why:  "a token alone continues: the version and its match are in it",
			from: listing(listState{rv: "0"}), in: page("10", "t1"),
			want: listing(listState{rv: "0", token: "t1", version: "10"}),
			eff:  effect{next: doList, list: ListOptions{Continue: "t1", Limit: 500}},
		},
		{
			why:  "an empty page with a token isn't the last",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: page("10", "t2"),
			want: listing(listState{rv: "0", token: "t2", version: "10"}),
			eff:  effect{next: doList, list: ListOptions{Continue: "t2", Limit: 500}},
		},
		{
			why:  "the last page commits, and the watch begins where the list stands",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: page("10", ""),
			want: state{mode: modeOpen, progress: "10"},
			eff:  effect{data: dataCommit, rv: "10", next: doWatch, watch: "10"},
		},
		{
			why:  "pages of several versions stand for the oldest: the watch brings the rest",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: page("9", ""),
			want: state{mode: modeOpen, progress: "9"},
			eff:  effect{data: dataCommit, rv: "9", next: doWatch, watch: "9"},
		},
		{
			why:  "a token that leads to itself would never end: all at once then",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: page("10", "t1"),
			want: state{mode: modeWait, after: modeList, failures: 1, grown: 1, list: listState{rv: "0", unpaged: true}},
			eff:  effect{data: dataDiscard, fault: faultLoop, next: doWait, ceiling: initial},
		},
		{
			why:  "F26: a list without a version is never committed and never watched from",
			from: listing(listState{rv: "0"}), in: page("", ""),
			want: state{mode: modeWait, after: modeList, failures: 1, grown: 1},
			eff:  effect{data: dataDiscard, fault: faultNoVersion, next: doWait, ceiling: initial},
		},
		{
			why:  "F26: nor is one at 0",
			from: listing(listState{rv: "0"}), in: page("0", ""),
			want: state{mode: modeWait, after: modeList, failures: 1, grown: 1},
			eff:  effect{data: dataDiscard, fault: faultNoVersion, next: doWait, ceiling: initial},
		},
		{
			why:  "F26: nor is garbage, known on the first page already",
			from: listing(listState{rv: "0"}), in: page("abc", "t1"),
			want: state{mode: modeWait, after: modeList, failures: 1, grown: 1},
			eff:  effect{data: dataDiscard, fault: faultNoVersion, next: doWait, ceiling: initial},
		},
		{
			why:  "a relist that is newer commits with its reason",
			from: relisting(listState{rv: "10", reason: RelistExpired}), in: page("12", ""),
			want: state{mode: modeOpen, progress: "12", fruitless: 1},
			eff:  effect{data: dataCommit, reason: RelistExpired, rv: "12", next: doWatch, watch: "12"},
		},
		{
			why:  "a relist at the same version commits too",
			from: relisting(listState{rv: "10", reason: RelistBadFrame}), in: page("10", ""),
			want: state{mode: modeOpen, progress: "10", fruitless: 1},
			eff:  effect{data: dataCommit, reason: RelistBadFrame, rv: "10", next: doWatch, watch: "10"},
		},
		{
			why:  "F22: a list older than progress is discarded, and the most recent one asked for",
			from: relisting(listState{rv: "10", reason: RelistExpired}), in: page("9", ""),
			want: relisting(listState{reason: RelistExpired}),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("")},
		},
		{
			why:  "F55: the most recent state older than progress proves a rollback",
			from: relisting(listState{reason: RelistExpired}), in: page("9", ""),
			want: state{mode: modeOpen, progress: "9", fruitless: 1},
			eff:  effect{data: dataCommit, reason: RelistRollback, rv: "9", next: doWatch, watch: "9"},
		},
	})
}

func TestStep_ListFails(t *testing.T) {
	waiting := func(s state, l listState) state {
		s.mode, s.after, s.list = modeWait, modeList, l
		s.failures++
		s.grown++
		return s
	}
	run(t, testPolicy(), []stepCase{
		{
			why:  "F20: an expired version: the most recent state, at once",
			from: relisting(listState{rv: "10", reason: RelistExpired}), in: failure(classExpired),
			want: relisting(listState{reason: RelistExpired}),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("")},
		},
		{
			why:  "F19: a version that the server hasn't reached: the same",
			from: relisting(listState{rv: "10", reason: RelistExpired}), in: failure(classTooLarge),
			want: relisting(listState{reason: RelistExpired}),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("")},
		},
		{
			why:  "F21: an expired token: from the first page, at the most recent state",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: failure(classExpired),
			want: listing(listState{}),
			eff:  effect{data: dataDiscard, next: doList, list: firstPage("")},
		},
		{
			why:  "F21: an expired token again: paging is too slow here, all at once",
			from: listing(listState{token: "t1", version: "10"}), in: failure(classExpired),
			want: waiting(listing(listState{}), listState{unpaged: true}),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "expired without a version or a token makes no sense: wait, try again",
			from: listing(listState{}), in: failure(classExpired),
			want: waiting(listing(listState{}), listState{}),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "a cut or refused connection: the same page again, the ones before it keep",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: failure(classPassing),
			want: waiting(listing(listState{}), listState{rv: "0", token: "t1", version: "10"}),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "after the wait, that page",
			from: waiting(listing(listState{}), listState{rv: "0", token: "t1", version: "10"}), in: input{kind: inWaited},
			want: state{mode: modeList, after: modeList, failures: 1, grown: 1, list: listState{rv: "0", token: "t1", version: "10"}},
			eff:  effect{next: doList, list: ListOptions{Continue: "t1", Limit: 500}},
		},
		{
			why:  "an answer that can't be read: from the first page, the same version",
			from: listing(listState{rv: "0", token: "t1", version: "10"}), in: failure(classUndecodable),
			want: waiting(listing(listState{}), listState{rv: "0"}),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "a request called invalid: the plainest that there is",
			from: relisting(listState{rv: "10", reason: RelistExpired}), in: failure(classInvalid),
			want: waiting(relisting(listState{}), listState{reason: RelistExpired}),
			eff:  effect{data: dataDiscard, next: doWait, ceiling: initial},
		},
		{
			why:  "F9: refused: somebody will mend it",
			from: listing(listState{rv: "0"}), in: failure(classRefused),
			want: waiting(listing(listState{}), listState{rv: "0"}),
			eff:  effect{next: doWait, ceiling: initial},
		},
		{
			why:  "F12: Retry-After comes before the backoff's own part",
			from: listing(listState{rv: "0"}), in: input{kind: inFailed, class: classPassing, retryAfter: time.Second},
			want: waiting(listing(listState{}), listState{rv: "0"}),
			eff:  effect{next: doWait, ceiling: initial, floor: time.Second},
		},
		{
			why:  "a Retry-After without measure is cut",
			from: listing(listState{rv: "0"}), in: input{kind: inFailed, class: classPassing, retryAfter: 24 * time.Hour},
			want: waiting(listing(listState{}), listState{rv: "0"}),
			eff:  effect{next: doWait, ceiling: initial, floor: maxRetryAfter},
		},
	})
	fast := testPolicy()
	fast.failFast = true
	run(t, fast, []stepCase{
		{
			why:  "refused, and asked to fail fast",
			from: listing(listState{rv: "0"}), in: failure(classRefused),
			want: state{mode: modeStopped, failures: 1, list: listState{rv: "0"}},
			eff:  effect{next: doStop},
		},
		{
			why:  "a watch refused, and asked to fail fast",
			from: state{mode: modeOpen, progress: "10"}, in: failure(classRefused),
			want: state{mode: modeStopped, failures: 1, progress: "10"},
			eff:  effect{next: doStop},
		},
	})
	unpaged := testPolicy()
	unpaged.pageSize = 0
	run(t, unpaged, []stepCase{{
		why:  "no limit when paging is off",
		from: state{}, in: input{kind: inStart},
		want: listing(listState{rv: "0"}),
		eff:  effect{next: doList, list: ListOptions{ResourceVersion: "0", ResourceVersionMatch: notOlder}},
	}})
}

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
			eff:  effect{next: doRead},
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
			from: movedStream, in: at(time.Millisecond, ended),
			want: reopened(movedStream),
			eff:  effect{next: doWatch, watch: "10"},
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
			from: synced(), in: at(time.Hour, failure(classPassing)),
			want: waiting(synced(), modeOpen),
			eff:  effect{next: doWait, ceiling: initial},
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

func TestBackoffCeiling(t *testing.T) {
	b := Options{}.withDefaults().Backoff
	for n, want := range []time.Duration{800, 1600, 3200, 6400, 12800, 25600, 30000, 30000} {
		if got := b.ceiling(n); got != want*time.Millisecond {
			t.Errorf("ceiling %d is %v, want %v", n, got, want*time.Millisecond)
		}
	}
	if got := b.ceiling(1 << 30); got != 30*time.Second {
		t.Errorf("after very many failures: %v", got)
	}
}

// TestStep_AllocatesNothing: it runs for every event.
func TestStep_AllocatesNothing(t *testing.T) {
	p, s := testPolicy(), synced()
	rvs := []string{"11", "12"}
	n := testing.AllocsPerRun(100, func() {
		for _, rv := range rvs {
			s.progress = "10"
			s, _ = p.step(s, live(Modified, keyA, rv))
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	p, s := testPolicy(), synced()
	b.ReportAllocs()
	for b.Loop() {
		s.progress = "10"
		s, _ = p.step(s, live(Modified, keyA, "11"))
	}
}
