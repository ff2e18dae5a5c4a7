package reflector

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"informer.example/object"
)

// walkPolicies are the policies that the walks are taken with.
func walkPolicies() []policy {
	all := Options{PollInterval: time.Minute, VerifyEvery: time.Hour}.withDefaults().policy()
	pages := all
	pages.streams = false
	return []policy{testPolicy(), streaming(), all, pages}
}

// FuzzStep walks the machine through anything that may happen, in any order,
// and holds every step to the promises of the package. Then nothing fails any
// more, and the machine must find its way to a watch.
func FuzzStep(f *testing.F) {
	f.Add(uint8(0), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add(uint8(1), []byte("the quick brown fox jumps over the lazy dog"))
	f.Add(uint8(2), []byte{3, 3, 3, 3, 40, 41, 42, 43, 80, 81, 82, 83, 200, 210, 220, 230})
	f.Add(uint8(3), []byte{1, 251, 1, 251, 2, 0, 1, 20, 3, 1, 1, 7, 9, 9})
	f.Fuzz(func(t *testing.T, which uint8, steps []byte) {
		policies := walkPolicies()
		walk(t, policies[int(which)%len(policies)], steps)
	})
}

// TestStep_RandomWalks is the fuzz test for every day.
func TestStep_RandomWalks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range walkPolicies() {
		for range 2000 {
			steps := make([]byte, rng.IntN(120))
			for i := range steps {
				steps[i] = byte(rng.IntN(256))
			}
			walk(t, p, steps)
		}
	}
}

func walk(t *testing.T, p policy, steps []byte) {
	s, eff := p.step(state{}, input{kind: inStart})
	check(t, p, state{}, input{kind: inStart}, s, eff)
	now := time.Duration(0)
	take := func(in input) {
		in.now = now
		before := s
		s, eff = p.step(s, in)
		check(t, p, before, in, s, eff)
	}
	for len(steps) > 1 {
		in := happening(eff, steps[0], steps[1])
		steps = steps[2:]
		now += time.Duration(in.retryAfter%7) * 20 * time.Second
		take(in)
	}

	// The faults are over: the server answers everything, at a version that
	// is the newest of all. One step for each thing that may be in flight, and
	// then a new list of two pages at most.
	const bound = 12
	if s.polling == pollNoWatch {
		now = max(now, s.tryWatch) // as late as that, the watch is tried again
	}
	for n := 0; s.mode != modeStream && s.polling != pollNoVersion; n++ {
		if n == bound {
			t.Fatalf("no watch after %d good answers: %+v", n, s)
		}
		now += time.Minute
		take(well(s, eff))
	}
	for n := 0; s.polling == pollNoVersion && (s.mode != modeWait || s.failures != 0); n++ {
		if n == bound {
			t.Fatalf("no list after %d good answers: %+v", n, s)
		}
		now += time.Minute
		take(well(s, eff))
	}
}

// well is the answer of a server that works.
func well(s state, eff effect) input {
	const version = "99999999"
	switch eff.next {
	case doList:
		return page(version, "")
	case doWatch:
		return input{kind: inOpened}
	case doRead:
		return input{kind: inEvent, event: Bookmark, marker: true, rv: version}
	}
	return input{kind: inWaited}
}

// happening is something that may answer what the machine asked for.
func happening(eff effect, a, b byte) input {
	version := strconv.Itoa(int(b%32) + 1)
	if b > 250 {
		version = []string{"", "0", "abc", "01", "-1"}[b-251]
	}
	broken := input{kind: inFailed, class: errorClass(b % 8), retryAfter: time.Duration(b % 5)}
	switch eff.next {
	case doList:
		if a%3 == 0 {
			return broken
		}
		return page(version, []string{"", "", "t1", "t2", "t3"}[a%5])
	case doWatch:
		if a%3 == 0 {
			return broken
		}
		return input{kind: inOpened}
	case doRead:
		switch a % 8 {
		case 0:
			return broken
		case 1:
			return input{kind: inEnded}
		}
		in := live(EventType(a%4+1), []object.Key{keyA, keyB}[a/4%2], version)
		in.marker = in.event == Bookmark && a/8%2 == 0
		return in
	}
	return input{kind: inWaited}
}

func check(t *testing.T, p policy, before state, in input, after state, eff effect) {
	t.Helper()
	bad := func(what string) {
		t.Helper()
		t.Fatalf("%s\nfrom %+v\non   %+v\nto   %+v\ndo   %+v", what, before, in, after, eff)
	}
	staging := before.mode == modeStage

	// R3: progress is a version, and moves back with a rollback alone.
	if after.progress != "" && !wellFormed(after.progress) {
		bad("progress isn't a version")
	}
	if object.Newer(before.progress, after.progress) || (before.progress != "" && after.progress == "") {
		if eff.data != dataCommit || eff.reason != RelistRollback || before.list.rv != "" {
			bad("progress moved back")
		}
	}
	if before.progress != after.progress && eff.data != dataCommit && eff.data != dataApply && eff.data != dataBookmark {
		bad("progress moved, and the sink doesn't know")
	}
	// R1: a commit follows a last page, or the marker.
	if eff.data == dataCommit {
		last := in.kind == inPage && in.token == "" || staging && in.kind == inEvent && in.marker
		if !last || eff.rv != after.progress || before.list.check == checkProbe {
			bad("a commit out of nowhere")
		}
		if eff.rv == "" && (p.poll == 0 || after.polling != pollNoVersion) {
			bad("a commit without a version")
		}
	}
	if eff.data == dataApply && (staging || in.kind != inEvent || in.event == Bookmark || in.rv != after.progress) {
		bad("applied what is no event")
	}
	if eff.data == dataStage && (!staging || in.event != Added) {
		bad("staged what is no object of the state")
	}
	// R1: what is staged is used or dropped before it is asked for again.
	begins := eff.next == doList && eff.list.Continue == "" || eff.next == doWatch || eff.next == doWait && after.list.streamed
	if begins && (staging || before.list.version != "" && in.kind == inPage) && eff.data != dataDiscard && eff.data != dataCommit {
		bad("a new list upon the objects of another")
	}
	switch eff.next {
	case doWatch:
		if !eff.initial && (eff.watch != after.progress || !wellFormed(eff.watch)) {
			bad("a watch from nowhere")
		}
		if eff.initial && (after.noStreams || !p.streams) {
			bad("a watch-list that isn't wanted")
		}
		if eff.initial && eff.watch == "0" && after.progress != "" {
			bad("any version will do, although one was seen")
		}
		if eff.initial && in.kind == inFailed && (in.class == classExpired || in.class == classTooLarge) && eff.watch != "" {
			bad("asked again for a version that can't be had")
		}
	case doList:
		o := eff.list
		if (o.ResourceVersion != "") != (o.ResourceVersionMatch != "") || (o.Continue != "" && o.ResourceVersion != "") {
			bad("a request that servers refuse, or take for something else")
		}
		if o.ResourceVersion == "0" && after.progress != "" {
			bad("any version will do, although one was seen")
		}
		// R5: not again at a version that was refused. A verification asks
		// for exactly that version; that it is gone doesn't hold for a newer one.
		if in.kind == inFailed && (in.class == classExpired || in.class == classTooLarge) && o.ResourceVersion != "" && before.list.check != checkState {
			bad("asked again for a version that can't be had")
		}
	case doWait:
		breath := in.kind == inEnded && before.stream.moved
		if eff.data != dataCommit && after.failures == before.failures && after.polling == pollNo && !breath {
			bad("a wait without a failure")
		}
		if after.failures > before.failures && (eff.ceiling < p.backoff.Initial || eff.ceiling > p.backoff.Max || eff.floor < 0 || eff.floor > maxRetryAfter) {
			bad("a wait out of bounds")
		}
		if after.failures == before.failures && eff.floor != p.poll && !breath {
			bad("a poll that doesn't wait for its time")
		}
	case doStop:
		bad("stopped without being asked to fail fast")
	}
	if in.kind == inEnded && in.now-before.stream.opened < p.short && eff.next == doWatch && !eff.initial {
		bad("a busy loop of short watches")
	}
	if in.kind == inFailed && eff.next != doWait && eff.next != doList && !eff.initial {
		bad("no wait after a failure")
	}
}
