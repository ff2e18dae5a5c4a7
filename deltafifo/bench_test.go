package deltafifo

import (
	"context"
	"fmt"
	"testing"

	"informer.example/object"
)

// BenchmarkBatch is a burst: so many updates of so many objects, then one pop.
// One op is one delta.
func BenchmarkBatch(b *testing.B) {
	for _, size := range []int{1, 100, 5000} {
		items := make([]object.Item[obj], size)
		for i := range items {
			items[i] = it(fmt.Sprintf("default/pod-%d", i), "1")
		}
		for _, q := range []Queue[obj]{NewInOrder(Options[obj]{}), NewDeltaFIFO(Options[obj]{})} {
			b.Run(fmt.Sprintf("%s/%d", kind(q), size), func(b *testing.B) {
				ctx := context.Background()
				process := func([]Delta[obj]) error { return nil }
				b.ReportAllocs()
				for n := 0; n < b.N; n += size {
					for i := range items {
						_ = q.Update(ctx, items[i])
					}
					_ = q.PopBatch(ctx, process)
				}
			})
		}
	}
}

// BenchmarkPingPong hands one delta at a time to a waiting popper.
func BenchmarkPingPong(b *testing.B) {
	for _, q := range []Queue[obj]{NewInOrder(Options[obj]{}), NewDeltaFIFO(Options[obj]{})} {
		b.Run(kind(q), func(b *testing.B) {
			ctx := context.Background()
			item := it("a", "1")
			done := make(chan struct{})
			go func() {
				process := func([]Delta[obj]) error { done <- struct{}{}; return nil }
				for q.PopBatch(ctx, process) == nil {
				}
				close(done)
			}()
			b.ReportAllocs()
			for b.Loop() {
				_ = q.Update(ctx, item)
				<-done
			}
			q.Close()
			<-done
		})
	}
}

func kind(q Queue[obj]) string {
	if _, ok := q.(*InOrder[obj]); ok {
		return "InOrder"
	}
	return "DeltaFIFO"
}
