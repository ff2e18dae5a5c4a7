package reflector

import (
	"strconv"
	"testing"
	"time"

	"informer.example/object"
)

// FuzzStep walks the machine through anything that may happen, in any order,
// and holds every step to the promises of the package.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	f.Add([]byte{3, 3, 3, 3, 40, 41, 42, 43, 80, 81, 82, 83, 200, 210, 220, 230})
	f.Fuzz(func(t *testing.T, walk []byte) {
		p := testPolicy()
		s, eff := p.step(state{}, input{kind: inStart})
		check(t, p, state{}, input{kind: inStart}, s, eff)
		now := time.Duration(0)
		for len(walk) > 1 {
			in := happening(s, eff, walk[0], walk[1])
			walk = walk[2:]
			now += time.Duration(in.retryAfter%7) * 20 * time.Second
			in.now = now
			before := s
			s, eff = p.step(s, in)
			check(t, p, before, in, s, eff)
		}
	})
}

// happening is something that may answer what the machine asked for.
func happening(s state, eff effect, a, b byte) input {
	version := strconv.Itoa(int(b%32) + 1)
	if b > 250 {
		version = []string{"", "0", "abc", "01", "-1"}[b-251]
	}
	broken := input{kind: inFailed, class: errorClass(b % 6), retryAfter: time.Duration(b % 5)}
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
		return live(EventType(a%4+1), []object.Key{keyA, keyB}[a/4%2], version)
	}
	return input{kind: inWaited}
}

func check(t *testing.T, p policy, before state, in input, after state, eff effect) {
	t.Helper()
	bad := func(what string) {
		t.Fatalf("%s\nfrom %+v\non   %+v\nto   %+v\ndo   %+v", what, before, in, after, eff)
	}

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
	// R1: a commit follows a last page.
	if eff.data == dataCommit && (in.kind != inPage || in.token != "" || eff.rv != after.progress) {
		bad("a commit out of nowhere")
	}
	if eff.data == dataApply && (in.kind != inEvent || in.event == Bookmark || in.rv != after.progress) {
		bad("applied what is no event")
	}
	// R1: the pages at hand are used or dropped before a new first page.
	if eff.next == doList && eff.list.Continue == "" && before.list.version != "" && in.kind == inPage && eff.data == dataNone {
		bad("a new list upon the pages of another")
	}
	switch eff.next {
	case doWatch:
		if eff.watch != after.progress || !wellFormed(eff.watch) {
			bad("a watch from nowhere")
		}
	case doList:
		o := eff.list
		if (o.ResourceVersion != "") != (o.ResourceVersionMatch != "") || (o.Continue != "" && o.ResourceVersion != "") {
			bad("a request that servers refuse, or take for something else")
		}
		if o.ResourceVersion == "0" && after.progress != "" {
			bad("any version will do, although one was seen")
		}
		// R5: not again at a version that was refused.
		if in.kind == inFailed && (in.class == classExpired || in.class == classTooLarge) && o.ResourceVersion != "" {
			bad("asked again for a version that can't be had")
		}
	case doWait:
		if eff.ceiling < p.backoff.Initial || eff.ceiling > p.backoff.Max || eff.floor < 0 || eff.floor > maxRetryAfter {
			bad("a wait out of bounds")
		}
		if after.failures <= before.failures {
			bad("a wait without a failure")
		}
	case doStop:
		bad("stopped without being asked to fail fast")
	}
	if in.kind == inFailed && eff.next != doWait && eff.next != doList {
		bad("no wait after a failure")
	}
}
