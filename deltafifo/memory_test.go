package deltafifo

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

func TestSteadyStateAllocatesNothing(t *testing.T) {
	items := make([]object.Item[obj], 100)
	for i := range items {
		items[i] = it(fmt.Sprintf("k%d", i%50), fmt.Sprint(i))
	}
	ctx := context.Background()
	process := func([]Delta[obj]) error { return nil }
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		// Twice each, since the slices take turns.
		if n := testing.AllocsPerRun(100, func() {
			for _, batch := range []int{1, 1, 100, 100} {
				for _, item := range items[:batch] {
					_ = q.Update(ctx, item)
				}
				_ = q.Bookmark(ctx, "7")
				_ = q.PopBatch(ctx, process)
			}
		}); n != 0 {
			t.Errorf("%v allocations for batches of 1 and of 100 updates, want 0", n)
		}
	})
	t.Run("Pop", func(t *testing.T) {
		f := NewDeltaFIFO(Options[obj]{})
		// The order of keys moves through its array, which is made anew when
		// it is used up: less than one allocation a write.
		if n := testing.AllocsPerRun(1000, func() {
			_ = f.Update(ctx, items[0])
			_ = f.Pop(ctx, func(Deltas[obj], bool) error { return nil })
		}); n > 1 {
			t.Errorf("%v allocations, want 1 at most", n)
		}
	})
}

// Waiting costs nothing either: the pair hands one delta over at a time.
func TestWaitingPopperAllocatesNothing(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		ctx := context.Background()
		item := it("a", "1")
		done := make(chan struct{})
		go func() {
			process := func([]Delta[obj]) error { done <- struct{}{}; return nil }
			for q.PopBatch(ctx, process) == nil {
			}
			close(done)
		}()
		if n := testing.AllocsPerRun(1000, func() {
			_ = q.Update(ctx, item)
			<-done
		}); n != 0 {
			t.Errorf("%v allocations a delta, want 0", n)
		}
		q.Close()
		<-done
	})
}

// Q10: what was handed over can be collected while the queue lives on.
func TestQueueLetsGoOfObjects(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		ctx := context.Background()
		var refs []weak.Pointer[metav1.PartialObjectMetadata]
		for i := range 300 {
			item := it(fmt.Sprintf("k%d", i%100), fmt.Sprint(i))
			refs = append(refs, weak.Make(item.Object))
			must(t, q.Update(ctx, item))
			if f, ok := q.(*DeltaFIFO[obj]); ok && i%10 == 9 {
				must(t, f.Pop(ctx, func(Deltas[obj], bool) error { return nil }))
			}
		}
		list := List[obj]{Items: its("a1 b1 c1")}
		for _, item := range list.Items {
			refs = append(refs, weak.Make(item.Object))
		}
		must(t, q.Replace(ctx, list))
		list = List[obj]{}
		popText(t, q)
		runtime.GC()
		held := 0
		for _, ref := range refs {
			if ref.Value() != nil {
				held++
			}
		}
		if held > 0 {
			t.Errorf("the empty queue holds %d of %d objects", held, len(refs))
		}
		runtime.KeepAlive(q)
	})
}

// Q10: a burst's memory is let go when batches are small again.
func TestQueueShrinksAfterABurst(t *testing.T) {
	const burst = 6 * keepCap
	fill := func(q Queue[obj]) {
		for i := range burst {
			must(t, q.Add(t.Context(), it(fmt.Sprintf("k%d", i), "1")))
		}
	}
	both(t, Options[obj]{MaxDepth: burst}, func(t *testing.T, q Queue[obj]) {
		fill(q)
		for range 3 {
			must(t, q.PopBatch(t.Context(), func([]Delta[obj]) error { return nil }))
			run(t, q, "+a1")
		}
		switch q := q.(type) {
		case *InOrder[obj]:
			if n := cap(q.waiting) + cap(q.spare); n > 2*keepCap {
				t.Errorf("room for %d deltas is kept", n)
			}
		case *DeltaFIFO[obj]:
			if n := cap(q.batch) + cap(q.waiting.keys) + cap(q.flying.keys) + q.waiting.peak + q.flying.peak; n > 5*keepCap {
				t.Errorf("room for %d deltas and keys is kept", n)
			}
			if n := len(q.spare); n > keepCap {
				t.Errorf("%d spare slices are kept", n)
			}
		}
	})
	t.Run("Pop", func(t *testing.T) {
		f := NewDeltaFIFO(Options[obj]{MaxDepth: burst})
		fill(f)
		for range burst {
			must(t, f.Pop(t.Context(), func(Deltas[obj], bool) error { return nil }))
		}
		checkInvariants(t, f)
		if n := cap(f.waiting.keys) + cap(f.flying.keys) + f.waiting.peak; n > 3*keepCap {
			t.Errorf("room for %d keys is kept", n)
		}
	})
}
