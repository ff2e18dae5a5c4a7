package informer

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// replay is a handler's resync: the store told again, in slices spread over
// the period. Guarded by hub.mu.
type replay struct {
	timer   *time.Timer // nil until the handler has synced
	slices  int         // of the present period
	slice   int         // how many of them have come
	owed    int         // objects to tell in the slices so far
	cursor  object.Key  // told last; the next slice goes on behind it
	dropped uint64      // objects that were owed when their period ended
}

const (
	// replaySlices is into how many parts a period is divided at most.
	replaySlices = 64
	// replayPause is the least time between two of them.
	replayPause = 10 * time.Millisecond
)

// startReplays sets off r's first period. h.mu is held.
func (h *hub[T]) startReplays(r *Registration[T]) {
	if r.opts.resync <= 0 {
		return
	}
	h.divide(r)
	r.replay.timer = time.AfterFunc(r.pause(), func() { h.replaySlice(r) })
}

// divide begins a period: no more slices than there are objects. h.mu is held.
func (h *hub[T]) divide(r *Registration[T]) {
	most := min(replaySlices, h.store.Len(), int(r.opts.resync/replayPause))
	r.replay.slices, r.replay.slice = max(most, 1), 0
}

// pause is the time up to the next slice, such that the last one comes when
// the period ends. hub.mu is held.
func (r *Registration[T]) pause() time.Duration {
	at := func(slice int) time.Duration {
		n := time.Duration(r.replay.slices)
		return r.opts.resync/n*time.Duration(slice) + r.opts.resync%n*time.Duration(slice)/n
	}
	return at(r.replay.slice+1) - at(r.replay.slice)
}

// replaySlice is the timer's function: it has one more slice told. At the
// beginning of a period what is left of the last one is dropped.
func (h *hub[T]) replaySlice(r *Registration[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped || r.over.Load() {
		return
	}
	p := &r.replay
	if p.slice == 0 {
		p.dropped += uint64(p.owed)
		p.owed = 0
	}
	n := h.store.Len()
	p.owed += n*(p.slice+1)/p.slices - n*p.slice/p.slices
	if p.slice++; p.slice == p.slices {
		h.divide(r)
	}
	p.timer.Reset(r.pause())
	if p.owed > 0 {
		h.wake(r)
	}
}

// pickReplay is what r is told when there is nothing else. h.mu is held.
func (h *hub[T]) pickReplay(r *Registration[T]) (task[T], bool) {
	if r.replay.owed == 0 {
		return task[T]{}, false
	}
	now := h.store.Snapshot()
	if now.Sequence() != h.published {
		// A commit is on its way to the log, and its arrival wakes r. A replay
		// now would tell its objects ahead of their events.
		return task[T]{}, false
	}
	count := min(r.replay.owed, now.Len())
	r.replay.owed = count // objects went meanwhile
	if count == 0 {
		return task[T]{}, false
	}
	return task[T]{source: FromResync, replay: now, after: r.replay.cursor, count: count, segments: h.segments.Load()}, true
}

// tellReplay tells objects again until the slice is done or a change is
// published, which goes first.
func (r *Registration[T]) tellReplay(t task[T]) bool {
	cursor, told := t.after, 0
	for item := range around(t.replay, t.after) {
		if told == t.count || r.hub.segments.Load() != t.segments {
			break
		}
		if !r.call(replayEvent(item), item, 0) {
			return false
		}
		cursor = item.Key
		told++
	}
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	// A period that ended during these calls has dropped what it owed.
	r.replay.owed = max(r.replay.owed-told, 0)
	r.replay.cursor = cursor
	return true
}

// around yields every object once: those behind a key, then those up to it.
func around[T metav1.Object](s *indexer.Snapshot[T], after object.Key) iter.Seq[*object.Item[T]] {
	return func(yield func(*object.Item[T]) bool) {
		for item := range s.ItemsFrom(after) {
			if item.Key != after && !yield(item) {
				return
			}
		}
		for item := range s.Items() {
			if item.Key.Compare(after) > 0 || !yield(item) {
				return
			}
		}
	}
}
