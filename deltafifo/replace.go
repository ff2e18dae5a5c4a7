package deltafifo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Replace queues a Replaced delta for every item of the list. Then it queues a
// tombstone for every object that is queued, being processed or in the store
// and neither in the list nor among the keys to keep: with the newest state
// that is known of it, which is a queued one rather than the store's.
func (f *DeltaFIFO[T]) Replace(ctx context.Context, list List[T]) error {
	for i := range list.Items {
		if err := checkKey(list.Items[i].Key); err != nil {
			return err
		}
	}
	if err := f.lockToWrite(ctx); err != nil {
		return err
	}
	r := replacement[T]{
		f:       f,
		initial: !f.progress.populated,
		present: make(map[object.Key]struct{}, len(list.Items)+len(list.Keep)),
	}
	for _, item := range list.Items {
		r.present[item.Key] = struct{}{}
		r.push(Delta[T]{Type: Replaced, Item: item})
	}
	for _, key := range list.Keep {
		r.present[key] = struct{}{}
	}
	r.buryWaiting()
	r.buryFlying()
	r.buryKnown()

	f.setVersion(list.ResourceVersion)
	f.progress.replaced(len(f.waiting.keys))
	f.unlockWritten(r.grown)
	return nil
}

// replacement is one Replace under way. It holds the queue's lock.
type replacement[T metav1.Object] struct {
	f       *DeltaFIFO[T]
	initial bool
	present map[object.Key]struct{} // in the list or to be kept
	grown   int
}

func (r *replacement[T]) push(d Delta[T]) {
	d.Initial = r.initial
	r.grown += r.f.waiting.push(d, &r.f.spare)
}

// bury queues a tombstone.
func (r *replacement[T]) bury(last object.Item[T]) {
	r.push(Delta[T]{Type: Deleted, FinalStateUnknown: true, Item: last})
}

func (r *replacement[T]) missing(key object.Key) bool {
	_, ok := r.present[key]
	return !ok
}

func (r *replacement[T]) buryWaiting() {
	// The keys are all queued already, so that none is appended on the way.
	for _, key := range r.f.waiting.keys {
		if r.missing(key) {
			r.bury(r.f.waiting.newest(key).Item)
		}
	}
}

// buryFlying sees to what the store will hold once the running process is done.
func (r *replacement[T]) buryFlying() {
	for _, key := range r.f.flying.keys {
		d := r.f.flying.newest(key)
		if r.missing(key) && d.Type != Deleted && r.f.waiting.newest(key) == nil {
			r.bury(d.Item)
		}
	}
}

func (r *replacement[T]) buryKnown() {
	if r.f.known == nil {
		return
	}
	for key := range r.f.known.Keys() {
		if !r.missing(key) || r.f.waiting.newest(key) != nil || r.f.flying.newest(key) != nil {
			continue
		}
		last, ok := r.f.known.Item(key)
		if !ok { // gone between the two calls: the deletion is told without a state
			last = object.Item[T]{}
		}
		last.Key = key
		r.bury(last)
	}
}

// Resync queues a Sync delta for every object of the store that is neither
// queued nor being processed: those have something newer coming.
func (f *DeltaFIFO[T]) Resync(ctx context.Context) error {
	if err := f.lockToWrite(ctx); err != nil {
		return err
	}
	grown := 0
	if f.known != nil {
		for key := range f.known.Keys() {
			if f.waiting.newest(key) != nil || f.flying.newest(key) != nil {
				continue
			}
			if item, ok := f.known.Item(key); ok {
				grown += f.waiting.push(Delta[T]{Type: Sync, Item: item}, &f.spare)
			}
		}
	}
	f.unlockWritten(grown)
	return nil
}
