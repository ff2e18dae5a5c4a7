package indexer

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"informer.example/object"
)

// The map equals a plain one through growth, shrinking and tombstones.
func TestSlotMapAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := newSlotMap[*obj]()
	want := map[object.Key]*slot[*obj]{}
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
			case s != nil:
				m.remove(s)
				delete(want, k)
			case r.IntN(3) > 0:
				s := &slot[*obj]{key: k, hash: m.hash(k)}
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
			t.Fatalf("%d slots in %d cells, want %d", m.len, cells, len(want))
		}
	}
}

// Readers need no lock: a key that stays is found at every moment, whatever
// comes, goes and is moved around it.
func TestSlotMapReadersNeedNoLock(t *testing.T) {
	m := newSlotMap[*obj]()
	stays := &slot[*obj]{key: object.Key{Name: "stays"}}
	stays.hash = m.hash(stays.key)
	m.add(stays)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				if m.find(stays.key) != stays {
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
		slots := make([]*slot[*obj], 2000)
		for i := range slots {
			s := &slot[*obj]{key: object.Key{Namespace: fmt.Sprint(round), Name: fmt.Sprint(i)}}
			s.hash = m.hash(s.key)
			slots[i] = s
			m.add(s)
		}
		for _, s := range slots {
			m.remove(s)
		}
	}
	done.Store(true)
	wg.Wait()
}
