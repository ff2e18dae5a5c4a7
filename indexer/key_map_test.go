package indexer

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"informer.example/object"
)

func newEntry(m *keyMap[*obj], key object.Key) *entry[*obj] {
	return &entry[*obj]{item: object.Item[*obj]{Key: key}, hash: m.hash(key)}
}

// The map equals a plain one through growth, shrinking and tombstones.
func TestKeyMapAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := newKeyMap[*obj]()
	want := map[object.Key]*entry[*obj]{}
	key := func(n int) object.Key {
		return object.Key{Namespace: fmt.Sprint("n", n%7), Name: fmt.Sprint(n)}
	}
	for round := range 6 {
		span := []int{10, 1000, 20_000, 300, 5000, 1}[round]
		for range 30_000 {
			k := key(r.IntN(span))
			s := m.find(k)
			if s != want[k] {
				t.Fatalf("%v: found %p, want %p", k, s, want[k])
			}
			switch {
			case s != nil && r.IntN(2) == 0:
				want[k] = newEntry(m, k)
				m.replace(s, want[k])
			case s != nil:
				m.remove(s)
				delete(want, k)
			case r.IntN(3) > 0:
				s := newEntry(m, k)
				m.add(s)
				want[k] = s
			}
		}
		for k, s := range want {
			if m.find(k) != s {
				t.Fatalf("%v has gone", k)
			}
			if round%2 == 0 {
				m.remove(s)
				delete(want, k)
			}
		}
		if cells := len(*m.cells.Load()); m.len != len(want) || cells > max(minCells, 16*m.len) {
			t.Fatalf("%d entries in %d cells, want %d", m.len, cells, len(want))
		}
	}
}

// Readers need no lock: a key that stays is found at every moment, whatever
// comes, goes and is moved around it.
func TestKeyMapReadersNeedNoLock(t *testing.T) {
	m := newKeyMap[*obj]()
	stays := newEntry(m, object.Key{Name: "stays"})
	m.add(stays)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				if m.find(stays.item.Key) != stays {
					t.Error("a key that stays was not found")
					return
				}
				if m.find(object.Key{Name: "never"}) != nil {
					t.Error("found what was never there")
					return
				}
			}
		})
	}
	for round := range 30 {
		entries := make([]*entry[*obj], 2000)
		for i := range entries {
			s := newEntry(m, object.Key{Namespace: fmt.Sprint(round), Name: fmt.Sprint(i)})
			entries[i] = s
			m.add(s)
		}
		for _, s := range entries {
			m.remove(s)
		}
	}
	done.Store(true)
	wg.Wait()
}
