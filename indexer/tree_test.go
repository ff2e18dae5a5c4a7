package indexer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// num is a key that is quick to read in a failure.
type num int

func (n num) Compare(m num) int { return cmp.Compare(n, m) }

type numTree = tree[num, *int]

// checkTree fails unless the view has every property that the tree's methods
// rely on.
func checkTree[K ordered[K], V any](t testing.TB, v view[K, V]) {
	t.Helper()
	count, depth := 0, -1
	var last *K
	var walk func(n *node[K, V], level int, low, high *K, rightmost bool)
	walk = func(n *node[K, V], level int, low, high *K, rightmost bool) {
		root := level == 0
		if n.size() > maxItems || !root && n.size() < minItems && !(rightmost && n.kids == nil) {
			t.Fatalf("node of level %d has %d entries, want %d to %d", level, n.size(), minItems, maxItems)
		}
		if n.kids == nil {
			if depth == -1 {
				depth = level
			}
			if level != depth || n.seps != nil || root && len(n.items) == 0 || len(n.items) == 0 {
				t.Fatalf("leaf at level %d (others at %d) with %d items, %d separators", level, depth, len(n.items), len(n.seps))
			}
			for i := range n.items {
				k := &n.items[i].key
				if last != nil && (*last).Compare(*k) >= 0 || low != nil && (*k).Compare(*low) < 0 || high != nil && (*k).Compare(*high) >= 0 {
					t.Fatalf("key %v is out of order: follows %v, range %v to %v", *k, last, low, high)
				}
				last = k
				count++
			}
			return
		}
		if n.items != nil || len(n.kids) < 2 || len(n.seps) != len(n.kids)-1 {
			t.Fatalf("inner node with %d items, %d children, %d separators", len(n.items), len(n.kids), len(n.seps))
		}
		for i, kid := range n.kids {
			lo, hi := low, high
			if i > 0 {
				lo = &n.seps[i-1]
			}
			if i < len(n.seps) {
				hi = &n.seps[i]
			}
			walk(kid, level+1, lo, hi, rightmost && i == len(n.kids)-1)
		}
	}
	if v.root != nil {
		walk(v.root, 0, nil, nil, true)
	}
	if count != v.len {
		t.Fatalf("%d items, len says %d", count, v.len)
	}
}

// model is the plain thing that a tree must equal.
type model map[num]*int

func (m model) clone() model {
	c := model{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (m model) keys() []num {
	keys := make([]num, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func checkEqual(t testing.TB, v view[num, *int], m model) {
	t.Helper()
	checkTree(t, v)
	keys := m.keys()
	i := 0
	for k, val := range v.all() {
		if i >= len(keys) || k != keys[i] || val != m[k] {
			t.Fatalf("item %d is %v, want one of %d in order", i, k, len(keys))
		}
		i++
	}
	if i != len(keys) || v.len != len(keys) {
		t.Fatalf("%d items, len %d, want %d", i, v.len, len(keys))
	}
}

// apply plays a program of operations on a tree and on maps, and compares
// everything with everything: two bytes are one operation.
func apply(t testing.TB, program []byte, span int) {
	var tr numTree
	m := model{}
	type saved struct {
		v view[num, *int]
		m model
	}
	var snaps []saved
	for i := 0; i+2 < len(program); i += 3 {
		k := num((int(program[i+1])<<8 | int(program[i+2])) % span)
		switch op := program[i]; {
		case op < 120: // put
			v := new(int)
			tr.put(k, v)
			m[k] = v
		case op < 200: // remove
			_, want := m[k]
			if got := tr.remove(k); got != want {
				t.Fatalf("remove %d: %v, want %v", k, got, want)
			}
			delete(m, k)
		case op < 210: // a run of ascending puts
			for j := range num(op) {
				v := new(int)
				tr.put(k+j, v)
				m[k+j] = v
			}
		case op < 220: // a run of removals
			for j := range num(op) {
				tr.remove(k + j)
				delete(m, k+j)
			}
		case op < 226:
			if len(snaps) < 8 {
				snaps = append(snaps, saved{tr.snapshot(), m.clone()})
			}
		default: // reads
			if v, ok := tr.get(k); v != m[k] || ok != (m[k] != nil) {
				t.Fatalf("get %d: %v", k, ok)
			}
		}
	}
	checkEqual(t, tr.view, m)
	for k := num(0); int(k) < span; k += num(1 + span/50) {
		checkPlaces(t, tr.view, m.keys(), k)
	}
	snaps = append(snaps, saved{tr.snapshot(), m}, saved{m: model{}})
	for _, a := range snaps {
		checkEqual(t, a.v, a.m) // S1: whatever came later has not changed it
		for _, b := range snaps {
			checkDiff(t, a.v, b.v, a.m, b.m)
		}
	}
}

// checkPlaces compares seek and forward with a search in the sorted keys.
func checkPlaces(t testing.TB, v view[num, *int], keys []num, k num) {
	t.Helper()
	var p path[num, *int]
	v.first(&p)
	for target := k - k%50; target < k+200; target += 1 + k%60 {
		if p.valid() && p.key() > target {
			continue
		}
		p.forward(target)
		var q path[num, *int]
		v.seek(target, &q)
		i, _ := slices.BinarySearch(keys, target)
		if p.valid() != (i < len(keys)) || q.valid() != p.valid() || p.valid() && (p.key() != keys[i] || q.key() != keys[i]) {
			t.Fatalf("looking for %d among %v", target, keys)
		}
	}
}

func checkDiff(t testing.TB, a, b view[num, *int], am, bm model) {
	t.Helper()
	type change struct{ before, after *int }
	var want []change
	all := am.clone()
	for k := range bm {
		all[k] = nil
	}
	for _, k := range all.keys() {
		if am[k] != bm[k] {
			want = append(want, change{am[k], bm[k]})
		}
	}
	var got []change
	diff(a, b, func(x, y *int) bool {
		got = append(got, change{x, y})
		return true
	})
	if !slices.Equal(got, want) {
		t.Fatalf("diff has %d changes, want %d", len(got), len(want))
	}
}

func TestTreeAgainstMap(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			program := make([]byte, 3*(200+r.IntN(3000)))
			for i := range program {
				program[i] = byte(r.Uint32())
			}
			apply(t, program, []int{50, 500, 3000, 20000}[seed%4])
		})
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte{0, 0, 1, 205, 0, 2, 221, 0, 0, 215, 0, 9, 230, 0, 1}, uint16(300))
	f.Add([]byte{209, 0, 0, 209, 1, 0, 209, 2, 0, 222, 0, 0, 219, 1, 0}, uint16(5000))
	f.Fuzz(func(t *testing.T, program []byte, span uint16) {
		if len(program) > 3000 {
			t.Skip()
		}
		apply(t, program, int(span)+1)
	})
}

// What both views share is skipped unread: diff doesn't notice that the items
// of all shared leaves are gone.
func TestDiffReadsWhatChanged(t *testing.T) {
	var tr numTree
	const n = 100_000
	for i := range num(n) {
		tr.put(i, new(int))
	}
	before := tr.snapshot()
	for i := range num(10) {
		tr.put(i*(n/10), new(int))
	}
	for i := range num(3 * maxItems) { // splits leaves
		tr.put(n+i, new(int))
	}
	after := tr.snapshot()
	old := map[*node[num, *int]]bool{}
	var p path[num, *int]
	for before.first(&p); p.valid(); p.skip(0) {
		old[p.node[p.depth-1]] = true
	}
	gone := 0
	for after.first(&p); p.valid(); p.skip(0) {
		if leaf := p.node[p.depth-1]; old[leaf] {
			leaf.items = nil
			gone++
		}
	}
	changes := 0
	diff(before, after, func(x, y *int) bool { changes++; return true })
	if changes != 10+3*maxItems || gone < n/maxItems-11 {
		t.Fatalf("%d changes, want %d; %d leaves are shared", changes, 10+3*maxItems, gone)
	}
}

func TestAscendingKeysFillLeaves(t *testing.T) {
	var tr numTree
	for i := range num(maxItems * 20) {
		tr.put(i, new(int))
	}
	leaves := 0
	var p path[num, *int]
	for tr.first(&p); p.valid(); p.skip(0) {
		leaves++
	}
	if leaves != 20 {
		t.Errorf("%d leaves, want 20: a list in key order should leave no room unused", leaves)
	}
}
