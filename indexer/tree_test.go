package indexer

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// num is a key that is quick to read in a failure.
type num int

func (n num) Compare(m num) int { return cmp.Compare(n, m) }

type numTree = tree[num]

// checkTree fails unless the view has every property that the tree's methods
// rely on.
func checkTree[K ordered[K]](t testing.TB, v view[K]) {
	t.Helper()
	count, depth := 0, -1
	var last *K
	var walk func(n *node[K], level int, low, high *K, rightmost bool)
	walk = func(n *node[K], level int, low, high *K, rightmost bool) {
		root := level == 0
		if n.size() > maxKeys || !root && n.size() < minKeys && !(rightmost && n.kids == nil) {
			t.Fatalf("node of level %d has %d entries, want %d to %d", level, n.size(), minKeys, maxKeys)
		}
		if n.kids == nil {
			if depth == -1 {
				depth = level
			}
			if level != depth || len(n.keys) == 0 {
				t.Fatalf("leaf at level %d (others at %d) with %d keys", level, depth, len(n.keys))
			}
			for i := range n.keys {
				k := &n.keys[i]
				if last != nil && (*last).Compare(*k) >= 0 || low != nil && (*k).Compare(*low) < 0 || high != nil && (*k).Compare(*high) >= 0 {
					t.Fatalf("key %v is out of order: follows %v, range %v to %v", *k, last, low, high)
				}
				last = k
				count++
			}
			return
		}
		if len(n.kids) < 2 || len(n.keys) != len(n.kids)-1 {
			t.Fatalf("inner node with %d children, %d separators", len(n.kids), len(n.keys))
		}
		for i, kid := range n.kids {
			lo, hi := low, high
			if i > 0 {
				lo = &n.keys[i-1]
			}
			if i < len(n.keys) {
				hi = &n.keys[i]
			}
			walk(kid, level+1, lo, hi, rightmost && i == len(n.kids)-1)
		}
	}
	if v.root != nil {
		walk(v.root, 0, nil, nil, true)
	}
	if count != v.len {
		t.Fatalf("%d keys, len says %d", count, v.len)
	}
}

// model is the plain thing that a tree must equal.
type model map[num]bool

func (m model) keys() []num { return slices.Sorted(maps.Keys(m)) }

func checkEqual(t testing.TB, v view[num], m model) {
	t.Helper()
	checkTree(t, v)
	if got, want := slices.Collect(v.all()), m.keys(); !slices.Equal(got, want) {
		t.Fatalf("the tree holds %v, want %v", got, want)
	}
}

// apply plays a program of operations on a tree and on a map, and compares
// everything: three bytes are one operation.
func apply(t testing.TB, program []byte, span int) {
	var tr numTree
	m := model{}
	type saved struct {
		v view[num]
		m model
	}
	var snaps []saved
	for i := 0; i+2 < len(program); i += 3 {
		k := num((int(program[i+1])<<8 | int(program[i+2])) % span)
		switch op := program[i]; {
		case op < 120:
			tr.put(k)
			m[k] = true
		case op < 200:
			if got := tr.remove(k); got != m[k] {
				t.Fatalf("remove %d: %v, want %v", k, got, m[k])
			}
			delete(m, k)
		case op < 210: // a run of ascending keys
			for j := range num(op) {
				tr.put(k + j)
				m[k+j] = true
			}
		case op < 220: // a run of removals
			for j := range num(op) {
				tr.remove(k + j)
				delete(m, k+j)
			}
		case op < 226:
			if len(snaps) < 8 {
				snaps = append(snaps, saved{tr.snapshot(), maps.Clone(m)})
			}
		default: // reads
			var p path[num]
			if got := tr.find(k, &p); got != m[k] {
				t.Fatalf("find %d: %v", k, got)
			}
		}
	}
	checkEqual(t, tr.view, m)
	for k := num(0); int(k) < span; k += num(1 + span/50) {
		checkPlaces(t, tr.view, m.keys(), k)
	}
	for _, a := range snaps {
		checkEqual(t, a.v, a.m) // S1: whatever came later has not changed it
	}
}

// checkPlaces compares seek and forward with a search in the sorted keys.
func checkPlaces(t testing.TB, v view[num], keys []num, k num) {
	t.Helper()
	var p path[num]
	v.first(&p)
	for target := k - k%50; target < k+200; target += 1 + k%60 {
		if p.valid() && p.key() > target {
			continue
		}
		p.forward(target)
		var q path[num]
		v.seek(target, &q)
		i, _ := slices.BinarySearch(keys, target)
		if p.valid() != (i < len(keys)) || q.valid() != p.valid() || p.valid() && (p.key() != keys[i] || q.key() != keys[i]) {
			t.Fatalf("looking for %d among %v", target, keys)
		}
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

func TestAscendingKeysFillLeaves(t *testing.T) {
	var tr numTree
	for i := range num(maxKeys * 20) {
		tr.put(i)
	}
	leaves := 0
	var p path[num]
	for tr.first(&p); p.valid(); p.skip(0) {
		leaves++
	}
	if leaves != 20 {
		t.Errorf("%d leaves, want 20: a list in key order should leave no room unused", leaves)
	}
}
