package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/reflector"
)

// sink is the reflector's way into the queue.
type sink[T metav1.Object] struct {
	queue deltafifo.Queue[T]
}

var _ reflector.Sink[metav1.Object] = sink[metav1.Object]{}

func (s sink[T]) Replace(ctx context.Context, list reflector.List[T]) error {
	return s.queue.Replace(ctx, deltafifo.List[T]{
		Items:           list.Items,
		Keep:            list.Keep,
		ResourceVersion: list.ResourceVersion,
	})
}

func (s sink[T]) Apply(ctx context.Context, e reflector.Event[T]) error {
	switch e.Type {
	case reflector.Added:
		return s.queue.Add(ctx, e.Item)
	case reflector.Modified:
		return s.queue.Update(ctx, e.Item)
	case reflector.Deleted:
		return s.queue.Delete(ctx, e.Item)
	}
	return nil
}

func (s sink[T]) Bookmark(ctx context.Context, rv string) error {
	return s.queue.Bookmark(ctx, rv)
}
