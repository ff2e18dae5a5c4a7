package informer

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/object"
	"informer.example/reflector"
)

// sink is the way of a part's reflector into its queue. Objects of another
// namespace than the part's are left out: the store's other parts are not its
// to change.
type sink[T metav1.Object] struct {
	informer *Informer[T]
	part     *part[T]
}

var _ reflector.Sink[metav1.Object] = sink[metav1.Object]{}

func (s sink[T]) Replace(ctx context.Context, list reflector.List[T]) error {
	items := list.Items
	if slices.ContainsFunc(items, s.foreign) {
		items = slices.DeleteFunc(items, s.foreign)
	}
	s.traceQueueingList(items, list.ResourceVersion)
	return s.part.queue.Replace(ctx, deltafifo.List[T]{
		Items:           items,
		Keep:            list.Keep,
		ResourceVersion: list.ResourceVersion,
	})
}

func (s sink[T]) Apply(ctx context.Context, e reflector.Event[T]) error {
	if s.foreign(e.Item) {
		return nil
	}
	s.traceQueueing(e.Type, &e.Item)
	switch e.Type {
	case reflector.Added:
		return s.part.queue.Add(ctx, e.Item)
	case reflector.Modified:
		return s.part.queue.Update(ctx, e.Item)
	case reflector.Deleted:
		return s.part.queue.Delete(ctx, e.Item)
	}
	return nil
}

func (s sink[T]) Bookmark(ctx context.Context, rv string) error {
	s.traceQueueing(reflector.Bookmark, &object.Item[T]{ResourceVersion: rv})
	return s.part.queue.Bookmark(ctx, rv)
}

// foreign reports whether an item is outside the part's range, and says so once.
func (s sink[T]) foreign(item object.Item[T]) bool {
	if s.part.covers(item.Key) {
		return false
	}
	if !s.part.foreign.Swap(true) {
		s.informer.opts.Logger.Warn("the server sent an object of another namespace than the one that was asked for; such objects are left out",
			"informer", s.informer.opts.Name, "namespace", s.part.namespace, "key", item.Key.String())
	}
	return true
}
