package deltafifo

import (
	"testing"

	"informer.example/object"
)

// checkInvariants looks inside a queue, whoever holds its turn.
func checkInvariants(t testing.TB, q Queue[obj]) {
	t.Helper()
	switch q := q.(type) {
	case *InOrder[obj]:
		checkInOrder(t, q)
	case *DeltaFIFO[obj]:
		checkDeltaFIFO(t, q)
	}
}

func checkInOrder(t testing.TB, q *InOrder[obj]) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	checkGate(t, &q.gate)
	if q.depth != len(q.waiting) {
		t.Fatalf("Q2: depth %d, %d deltas wait", q.depth, len(q.waiting))
	}
	for i, d := range q.waiting {
		if d.Type == 0 || (d.List != nil) != (d.Type == ReplacedAll) {
			t.Fatalf("delta %d is malformed: %+v", i, d)
		}
		if i > 0 && d.Type == Bookmark && q.waiting[i-1].Type == Bookmark {
			t.Fatalf("Q1: bookmarks %d and %d are adjacent", i-1, i)
		}
	}
	checkCleared(t, "waiting", q.waiting, len(q.waiting))
	checkCleared(t, "spare", q.spare, 0)
}

func checkDeltaFIFO(t testing.TB, f *DeltaFIFO[obj]) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	checkGate(t, &f.gate)
	if n := checkPending(t, "waiting", &f.waiting); n != f.depth {
		t.Fatalf("Q2: depth %d, %d deltas wait", f.depth, n)
	}
	checkPending(t, "flying", &f.flying)
	for _, s := range f.spare {
		if len(s) != 0 {
			t.Fatalf("a spare has %d deltas", len(s))
		}
		checkCleared(t, "a spare", s, 0)
	}
	if len(f.turn) == 0 {
		if n := len(f.flying.keys); n > 0 {
			t.Fatalf("%d keys fly, and nobody pops", n)
		}
		checkCleared(t, "batch", f.batch, 0)
	}
}

func checkPending(t testing.TB, name string, p *pending[obj]) (depth int) {
	t.Helper()
	if len(p.keys) != len(p.deltas) {
		t.Fatalf("Q7: %s: %d keys in order, %d in the map", name, len(p.keys), len(p.deltas))
	}
	seen := map[object.Key]bool{}
	for _, key := range p.keys {
		if seen[key] || len(p.deltas[key]) == 0 {
			t.Fatalf("Q7: %s: key %v: twice %v, %d deltas", name, key, seen[key], len(p.deltas[key]))
		}
		seen[key] = true
		for i, d := range p.deltas[key] {
			if d.Item.Key != key || d.List != nil {
				t.Fatalf("%s: under %v: %+v", name, key, d)
			}
			if i > 0 && d.Type == Deleted && p.deltas[key][i-1].Type == Deleted {
				t.Fatalf("Q8: %s: key %v has two deletions in a row", name, key)
			}
		}
		checkCleared(t, name, p.deltas[key], len(p.deltas[key]))
		depth += len(p.deltas[key])
	}
	for _, k := range p.keys[len(p.keys):cap(p.keys)] {
		if k != (object.Key{}) {
			t.Fatalf("Q10: %s still holds key %v", name, k)
		}
	}
	return depth
}

func checkGate(t testing.TB, g *gate) {
	t.Helper()
	if g.depth < 0 {
		t.Fatalf("depth %d", g.depth)
	}
	if g.room != nil && (g.closed || g.depth < g.maxDepth) {
		t.Fatalf("Q2: writers wait at depth %d of %d, closed: %v", g.depth, g.maxDepth, g.closed)
	}
	if n := g.progress.left + g.progress.flying; n > 0 && g.HasSynced() {
		t.Fatalf("Q5: synced with %d initial entries to go", n)
	}
}

// checkCleared checks that a slice holds nothing behind its first n elements (Q10).
func checkCleared(t testing.TB, name string, s []Delta[obj], n int) {
	t.Helper()
	for _, d := range s[n:cap(s)] {
		if d != (Delta[obj]{}) {
			t.Fatalf("Q10: %s still holds %v", name, d.Item.Key)
		}
	}
}
