package apisim

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestStoreAgainstModel writes at random and compares every state that is still
// readable, and every watch that is still possible, with a plain model: a copy
// of the whole state after each write.
func TestStoreAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		window := 1 + rng.IntN(40)
		s := New(WithHistory(window))
		tab := s.store.tables[Pods().GVR]
		states := []map[string]uint64{{}} // by RV - firstRV; key to RV of the version
		state := map[string]uint64{}
		var writes []uint64 // RVs of all writes of pods
		compacted := 0      // how many of them were before the last Compact
		for range 300 {
			ns, name := string(rune('a'+rng.IntN(3))), fmt.Sprint("p", rng.IntN(6))
			key := objectKey(ns, name)
			switch before := s.store.current(); rng.IntN(5) {
			case 0:
				put(t, s, &corev1.ConfigMap{ObjectMeta: pod(ns, fmt.Sprint("c", before)).ObjectMeta})
			case 1:
				if _, ok := state[key]; ok {
					remove(t, s, ns, name)
					delete(state, key)
					writes = append(writes, before+1)
				} else if _, err := s.Delete(Pods().GVR, ns, name); err == nil {
					t.Fatal("deleted what is not there")
				}
			case 2:
				if rng.IntN(20) == 0 {
					s.Compact()
					compacted = len(writes)
				}
			default:
				put(t, s, pod(ns, name, "rv", fmt.Sprint(before)))
				state[key] = before + 1
				writes = append(writes, before+1)
			}
			for uint64(len(states)) <= s.store.current()-firstRV {
				states = append(states, maps.Clone(state))
			}
		}

		if n := len(tab.log); n > window || n != min(window, len(writes)-compacted) {
			t.Fatalf("seed %d: the log holds %d writes of a window of %d", seed, n, window)
		}
		if tab.live != len(state) {
			t.Errorf("seed %d: %d live, want %d", seed, tab.live, len(state))
		}
		for rv := tab.floor; rv <= s.store.current(); rv++ {
			want := states[rv-firstRV]
			p := s.store.scan(tab, scanRequest{at: rv})
			got := map[string]uint64{}
			var keys []string
			for _, r := range p.items {
				got[r.key] = r.rv
				keys = append(keys, r.key)
			}
			if !maps.Equal(got, want) || !slices.IsSorted(keys) {
				t.Fatalf("seed %d: state at %d is %v, want %v", seed, rv, got, want)
			}
			// L4: the changes above it lead to the newest state.
			changes, seen, ok := s.cache.changesAfter(tab, rv, nil, 1000)
			if !ok || seen != s.store.current() {
				t.Fatalf("seed %d: changes after %d end at %d, %v", seed, rv, seen, ok)
			}
			last := rv
			for _, c := range changes {
				if c.rev.rv <= last {
					t.Fatalf("seed %d: RV %d after %d", seed, c.rev.rv, last)
				}
				last = c.rev.rv
				if was := got[c.rev.key]; (c.prev == nil || c.prev.deleted) != (was == 0) || was != 0 && c.prev.rv != was {
					t.Fatalf("seed %d: the write at %d replaces the wrong version", seed, c.rev.rv)
				}
				if c.rev.deleted {
					delete(got, c.rev.key)
				} else {
					got[c.rev.key] = c.rev.rv
				}
			}
			if !maps.Equal(got, state) {
				t.Fatalf("seed %d: changes after %d lead to %v, want %v", seed, rv, got, state)
			}
		}
		if p := s.store.scan(tab, scanRequest{at: tab.floor - 1}); !p.expired {
			t.Errorf("seed %d: a state below the floor is readable", seed)
		}
		// A reader can go on if it has seen all that is forgotten, and only then.
		seenAll := uint64(0)
		if forgotten := len(writes) - len(tab.log); forgotten > 0 {
			seenAll = writes[forgotten-1]
		}
		for rv := uint64(firstRV); rv <= s.store.current(); rv++ {
			if _, _, ok := s.cache.changesAfter(tab, rv, nil, 1); ok != (rv >= seenAll) {
				t.Fatalf("seed %d: reading on from %d: %v, forgotten up to %d", seed, rv, ok, seenAll)
			}
		}
		checkNoGarbage(t, tab)
	}
}

// checkNoGarbage: what cannot be read any more is not kept.
func checkNoGarbage(t *testing.T, tab *table) {
	t.Helper()
	logged := map[*revision]bool{}
	for _, r := range tab.log {
		logged[r] = true
	}
	n := 0
	for e := range tab.keys.from("", "") {
		n++
		if tab.entries[e.key] != e {
			t.Errorf("%s: the list and the map differ", e.key)
		}
		if e.head.deleted && !logged[e.head] {
			t.Errorf("%s: a forgotten deletion is kept", e.key)
		}
		for r := e.head; r.older != nil; r = r.older {
			if !logged[r] {
				t.Errorf("%s: the version before %d is kept, but nothing can read it", e.key, r.rv)
			}
		}
	}
	if n != len(tab.entries) {
		t.Errorf("%d keys in the list, %d in the map", n, len(tab.entries))
	}
}

// A reader that is behind gets the log in batches, and knows how far it is.
func TestChangesInBatches(t *testing.T) {
	s := New()
	for i := range 10 {
		put(t, s, pod("a", fmt.Sprint("p", i)))
	}
	tab := s.store.tables[Pods().GVR]
	var got []string
	for seen := uint64(firstRV); seen < s.store.current(); {
		var batch []change
		batch, seen, _ = s.cache.changesAfter(tab, seen, nil, 4)
		got = append(got, fmt.Sprint(len(batch), "@", seen))
	}
	if text := strings.Join(got, " "); text != "4@104 4@108 2@110" {
		t.Errorf("batches %s", text)
	}
}

func TestWaitFor(t *testing.T) {
	s := New()
	if !s.cache.waitFor(t.Context(), firstRV, 0) {
		t.Error("waits for the present")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.cache.waitFor(ctx, firstRV+1, freshnessLimit) {
		t.Error("reached the future")
	}
	if len(s.cache.waiters) != 0 {
		t.Error("a waiter is left")
	}
}

// Keys that come in order fill their runs.
func TestKeyListIsDense(t *testing.T) {
	var l keyList
	for i := range 10 * maxRun {
		l.insert(&entry{key: fmt.Sprintf("%06d", i)})
	}
	if n := len(l.runs); n > 11 {
		t.Errorf("%d runs", n)
	}
}

// FuzzKeyList compares the key list with a sorted slice.
func FuzzKeyList(f *testing.F) {
	f.Add([]byte("abcabcabc"), uint16(3))
	f.Add([]byte{0, 255, 1, 254, 2, 253}, uint16(700))
	f.Fuzz(func(t *testing.T, ops []byte, filler uint16) {
		var l keyList
		var model []string
		insert := func(key string) {
			if at, found := slices.BinarySearch(model, key); !found {
				model = slices.Insert(model, at, key)
				l.insert(&entry{key: key})
			}
		}
		for i := range int(filler) % 2000 { // ascending: full runs
			insert(fmt.Sprintf("m/%04d", i))
		}
		for i, op := range ops {
			key := fmt.Sprintf("%c/%d", 'a'+op%7, op/14)
			if op%14 < 7 {
				insert(key)
				continue
			}
			if at, found := slices.BinarySearch(model, key); found {
				model = slices.Delete(model, at, at+1)
			} else if n := len(model); n > 0 && op%2 == 0 {
				at := (int(op) * (i + 1)) % n
				key = model[at]
				model = slices.Delete(model, at, at+1)
			}
			l.remove(key)
		}
		for _, q := range [][2]string{{"", ""}, {"c/2", ""}, {"", "c/"}, {"c/1", "c/"}, {"a", "c/"}, {"zz", ""}, {"m/0500", "m/"}} {
			var got, want []string
			for e := range l.from(q[0], q[1]) {
				got = append(got, e.key)
			}
			for _, k := range model {
				if k >= q[0] && strings.HasPrefix(k, q[1]) {
					want = append(want, k)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %q with prefix %q: %v, want %v", q[0], q[1], got, want)
			}
		}
		for i, r := range l.runs {
			if len(r) == 0 || len(r) > maxRun {
				t.Errorf("run %d has %d entries", i, len(r))
			}
		}
	})
}
