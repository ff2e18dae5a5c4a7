package deltafifo

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"

	"informer.example/object"
)

// lockedStore is a store that a queue reads while its consumer writes.
type lockedStore struct {
	mu sync.RWMutex
	store
}

func (s *lockedStore) Keys() iter.Seq[object.Key] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store.Keys() // a sorted copy
}

func (s *lockedStore) Item(key object.Key) (object.Item[obj], bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store.Item(key)
}

// One goroutine writes what a server tells, with changes that are missed and
// found by a later list; others pop by turns. In the end the store is the
// server's, and no deletion was told of an object that wasn't there.
func TestStoreConvergesUnderConcurrency(t *testing.T) {
	both(t, Options[obj]{MaxDepth: 8}, func(t *testing.T, q Queue[obj]) {
		s := &lockedStore{store: store{}}
		f, classic := q.(*DeltaFIFO[obj])
		if classic {
			f.known = s
		}
		apply := func(d []Delta[obj]) error {
			for _, d := range d {
				s.mu.Lock()
				if _, ok := s.store[d.Item.Key]; classic && d.Type == Deleted && !ok {
					t.Errorf("Q8, Q9: %s is of an object that isn't stored", text([]Delta[obj]{d}))
				}
				s.store.apply(d)
				s.mu.Unlock()
			}
			return nil
		}
		ctx := context.Background()
		var poppers sync.WaitGroup
		for i := range 3 {
			poppers.Go(func() {
				for {
					var err error
					if classic && i == 0 {
						err = f.Pop(ctx, func(d Deltas[obj], _ bool) error { return apply(d) })
					} else {
						err = q.PopBatch(ctx, apply)
					}
					if err != nil {
						if err != ErrClosed {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		truth := serve(t, q, 20_000)
		q.Close()
		poppers.Wait()
		if len(s.store) != len(truth) {
			t.Errorf("Q1: the store has %d objects, the server %d", len(s.store), len(truth))
		}
		for key, item := range truth {
			if s.store[key] != item {
				t.Errorf("Q1: %v: the store has %q, the server %q", key, s.store[key].ResourceVersion, item.ResourceVersion)
			}
		}
	})
}

// serve makes n random changes, tells the queue, and returns the last state.
func serve(t *testing.T, q Queue[obj], n int) store {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, 7))
	truth := store{}
	cut := false
	for rv := 1; rv <= n; rv++ {
		item := it(fmt.Sprintf("k%d", r.IntN(30)), fmt.Sprint(rv))
		_, exists := truth[item.Key]
		cut = cut || r.IntN(20) == 0
		switch {
		case r.IntN(50) == 0 || rv == n:
			l := List[obj]{ResourceVersion: fmt.Sprint(rv)}
			for key := range truth.Keys() {
				l.Items = append(l.Items, truth[key])
			}
			must(t, q.Replace(ctx, l))
			cut = false
		case exists && r.IntN(2) == 0:
			delete(truth, item.Key)
			if !cut {
				must(t, q.Delete(ctx, item))
			}
		default:
			truth[item.Key] = item
			if !cut {
				must(t, q.Update(ctx, item))
			}
		}
	}
	return truth
}
