package reflector

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// recorder is a Sink that keeps what a store would, and a line for each call.
type recorder[T metav1.Object] struct {
	mu     sync.Mutex
	items  map[object.Key]object.Item[T]
	rv     string
	lines  []string
	fail   error                     // returned by every call
	block  func(ctx context.Context) // called first
	onCall func()                    // called last, without the lock
}

func newRecorder[T metav1.Object]() *recorder[T] {
	return &recorder[T]{items: map[object.Key]object.Item[T]{}}
}

func (r *recorder[T]) do(ctx context.Context, line string, change func()) error {
	if r.block != nil {
		r.block(ctx)
	}
	r.mu.Lock()
	r.lines = append(r.lines, line)
	err := r.fail
	if err == nil {
		change()
	}
	r.mu.Unlock()
	if r.onCall != nil {
		r.onCall()
	}
	return err
}

func (r *recorder[T]) Replace(ctx context.Context, l List[T]) error {
	line := fmt.Sprintf("replace %d items at %s", len(l.Items), l.ResourceVersion)
	if l.Reason != "" {
		line += " because " + string(l.Reason)
	}
	if len(l.Keep) > 0 {
		line += fmt.Sprintf(" keep %v", l.Keep)
	}
	return r.do(ctx, line, func() {
		next := map[object.Key]object.Item[T]{}
		for _, key := range l.Keep {
			if it, ok := r.items[key]; ok {
				next[key] = it
			}
		}
		for _, it := range l.Items {
			next[it.Key] = it
		}
		r.items, r.rv = next, l.ResourceVersion
	})
}

func (r *recorder[T]) Apply(ctx context.Context, ev Event[T]) error {
	return r.do(ctx, fmt.Sprintf("%s %s at %s", ev.Type, ev.Item.Key, ev.Item.ResourceVersion), func() {
		if ev.Type == Deleted {
			delete(r.items, ev.Item.Key)
		} else {
			r.items[ev.Item.Key] = ev.Item
		}
		r.rv = ev.Item.ResourceVersion
	})
}

func (r *recorder[T]) Bookmark(ctx context.Context, rv string) error {
	return r.do(ctx, "bookmark "+rv, func() { r.rv = rv })
}

func (r *recorder[T]) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *recorder[T]) keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]string, 0, len(r.items))
	for key, it := range r.items {
		keys = append(keys, key.String()+"@"+it.ResourceVersion)
	}
	slices.Sort(keys)
	return keys
}

func mustKey(s string) object.Key {
	key, err := object.ParseKey(s)
	if err != nil {
		panic(err)
	}
	return key
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}
