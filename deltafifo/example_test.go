package deltafifo_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/object"
)

type Object = *metav1.PartialObjectMetadata

func item(name, resourceVersion string) object.Item[Object] {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: resourceVersion}}
	return object.Item[Object]{Key: object.Key{Name: name}, ResourceVersion: resourceVersion, Object: obj}
}

// Then and now: the classic queue gathers by object, so that a's second state
// comes before b's first. The in-order queue keeps the order of the watch.
func Example() {
	ctx := context.Background()
	queues := []struct {
		name string
		deltafifo.Queue[Object]
	}{
		{"then", deltafifo.NewDeltaFIFO(deltafifo.Options[Object]{})},
		{"now", deltafifo.NewInOrder(deltafifo.Options[Object]{})},
	}
	for _, q := range queues {
		_ = q.Add(ctx, item("a", "1"))
		_ = q.Add(ctx, item("b", "2"))
		_ = q.Update(ctx, item("a", "3"))
		_ = q.PopBatch(ctx, func(deltas []deltafifo.Delta[Object]) error {
			fmt.Print(q.name, ":")
			for _, d := range deltas {
				fmt.Printf(" %v %s%s", d.Type, d.Item.Key, d.Item.ResourceVersion)
			}
			fmt.Println()
			return nil
		})
	}
	// Output:
	// then: Added a1 Updated a3 Added b2 Bookmark 3
	// now: Added a1 Added b2 Updated a3
}

// A DeltaFIFO is popped object by object, with all that happened to each.
func ExampleDeltaFIFO_Pop() {
	ctx := context.Background()
	q := deltafifo.NewDeltaFIFO(deltafifo.Options[Object]{})
	_ = q.Replace(ctx, deltafifo.List[Object]{Items: []object.Item[Object]{item("a", "1"), item("b", "2")}})
	_ = q.Update(ctx, item("a", "3"))
	for !q.HasSynced() {
		_ = q.Pop(ctx, func(deltas deltafifo.Deltas[Object], isInInitialList bool) error {
			for _, d := range deltas {
				fmt.Println(d.Item.Key, d.Type, isInInitialList)
			}
			return nil
		})
	}
	fmt.Println("synced")
	// Output:
	// a Replaced true
	// a Updated true
	// b Replaced true
	// synced
}

// A list that lacks an object deletes it. A DeltaFIFO says so with a
// tombstone, which has the last state known.
func ExampleDeltaFIFO_Replace() {
	ctx := context.Background()
	q := deltafifo.NewDeltaFIFO(deltafifo.Options[Object]{})
	_ = q.Add(ctx, item("a", "1"))
	_ = q.Replace(ctx, deltafifo.List[Object]{ResourceVersion: "9"})
	_ = q.PopBatch(ctx, func(deltas []deltafifo.Delta[Object]) error {
		for _, d := range deltas {
			fmt.Println(d.Type, d.Item.Key, d.Item.ResourceVersion, "final state unknown:", d.FinalStateUnknown)
		}
		return nil
	})
	// Output:
	// Added a 1 final state unknown: false
	// Deleted a 1 final state unknown: true
	// Bookmark  9 final state unknown: false
}
