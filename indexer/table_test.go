package indexer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// checkTable fails if a table holds memory for nothing, or has lost track of
// its ids.
func checkTable[E any](t testing.TB, tab *table[E]) {
	t.Helper()
	free := map[uint32]bool{}
	for _, id := range tab.free {
		if free[id] || id >= tab.next {
			t.Fatalf("id %d is free twice, or was never claimed", id)
		}
		free[id] = true
	}
	for id := range tab.next {
		if (tab.get(id) == nil) != free[id] {
			t.Fatalf("id %d: free is %v", id, free[id])
		}
	}
	for _, p := range tab.pages {
		if p == nil {
			continue
		}
		if p.leaves == ([pageSize]*leaf[E]{}) {
			t.Fatal("a page without leaves")
		}
		for _, l := range p.leaves {
			if l != nil && l.at == ([leafSize]*E{}) {
				t.Fatal("a leaf that holds nothing")
			}
		}
	}
}

// A table equals a map through any claims, releases and changes; views of it
// never change (S1); and the difference of any two views is that of two maps.
func TestTableAgainstMap(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			var tab table[int]
			m := map[uint32]*int{}
			var ids []uint32
			type saved struct {
				v tableView[int]
				m map[uint32]*int
			}
			snaps := []saved{{}}
			growing := true
			for range 12_000 {
				if r.IntN(3000) == 0 {
					growing = !growing
				}
				switch n := r.IntN(1000); {
				case len(ids) == 0 || n < 300 || growing && n < 600:
					id := tab.claim()
					if m[id] != nil {
						t.Fatalf("id %d is in use", id)
					}
					m[id] = new(int)
					tab.set(id, m[id])
					ids = append(ids, id)
				case n < 700:
					i := r.IntN(len(ids))
					id := ids[i]
					tab.release(id)
					delete(m, id)
					ids[i] = ids[len(ids)-1]
					ids = ids[:len(ids)-1]
				case n < 996:
					id := ids[r.IntN(len(ids))]
					m[id] = new(int)
					tab.set(id, m[id])
				default:
					if len(snaps) < 10 {
						snaps = append(snaps, saved{tab.snapshot(), maps.Clone(m)})
					}
				}
			}
			checkTable(t, &tab)
			snaps = append(snaps, saved{tab.snapshot(), m})
			for _, a := range snaps {
				scan := a.v.scan()
				for id := range tab.next + 5000 {
					if a.v.get(id) != a.m[id] || scan.get(id) != a.m[id] {
						t.Fatalf("id %d is not what it was", id)
					}
				}
				for _, b := range snaps {
					checkTableDiff(t, a.v, b.v, a.m, b.m)
				}
			}
		})
	}
}

func checkTableDiff(t *testing.T, a, b tableView[int], am, bm map[uint32]*int) {
	t.Helper()
	type change struct{ before, after *int }
	want := map[change]bool{}
	for id := range am {
		want[change{am[id], bm[id]}] = am[id] != bm[id]
	}
	for id := range bm {
		want[change{am[id], bm[id]}] = am[id] != bm[id]
	}
	diffTables(a, b, func(before, after *int) bool {
		if c := (change{before, after}); !want[c] {
			t.Fatal("a difference that isn't one, or told twice")
		} else {
			delete(want, c)
		}
		return true
	})
	for _, missing := range want {
		if missing {
			t.Fatal("a difference is missing")
		}
	}
}

// What two views share is skipped unread: diffTables doesn't notice that what
// the shared leaves hold has gone.
func TestDiffReadsWhatChanged(t *testing.T) {
	var tab table[int]
	const n = 100_000
	for range n {
		tab.set(tab.claim(), new(int))
	}
	before := tab.snapshot()
	for i := range uint32(10) {
		tab.set(i*(n/10), new(int))
	}
	after := tab.snapshot()
	gone := 0
	for i, p := range before.pages {
		for j, l := range p.leaves {
			if l != nil && l == after.pages[i].leaves[j] {
				p.leaves[j], after.pages[i].leaves[j] = nil, nil
				gone++
			}
		}
	}
	changes := 0
	diffTables(before, after, func(_, _ *int) bool { changes++; return true })
	if changes != 10 || gone != n/leafSize-10 {
		t.Fatalf("%d changes, want 10; %d leaves are shared", changes, gone)
	}
}
