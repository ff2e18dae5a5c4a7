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

// testPolicy lists in pages.
func testPolicy() policy { return Options{WatchList: WatchListNever}.withDefaults().policy() }

// streaming asks for watch-lists first.
func streaming() policy { return Options{}.withDefaults().policy() }

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
			want: listing(listState{rv: "0", token: "t1", version: "10", pages: 1, mark: "t1"}),
			eff:  effect{next: doList, list: ListOptions{Continue: "t1", Limit: 500}},
		},
		{
			why:  "an empty page with a token isn't the last",
			from: listing(listState{rv: "0", token: "t1", version: "10", pages: 1, mark: "t1"}), in: page("10", "t2"),
			want: listing(listState{rv: "0", token: "t2", version: "10", pages: 2, mark: "t2"}),
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
			why:  "tokens that go in a circle would never end either",
			from: listing(listState{rv: "0", token: "t5", version: "10", pages: 5, mark: "t4"}), in: page("10", "t4"),
			want: state{mode: modeWait, after: modeList, failures: 1, grown: 1, list: listState{rv: "0", unpaged: true}},
			eff:  effect{data: dataDiscard, fault: faultLoop, next: doWait, ceiling: initial},
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
