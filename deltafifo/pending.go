package deltafifo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// pending is deltas by key. A key is in keys once if it is in deltas, and not
// at all otherwise; no Deltas is empty (Q7).
type pending[T metav1.Object] struct {
	keys   []object.Key // in the order in which they were queued
	deltas map[object.Key]Deltas[T]
	peak   int // the most keys since deltas was made: a map never shrinks
}

func newPending[T metav1.Object]() pending[T] {
	return pending[T]{deltas: map[object.Key]Deltas[T]{}}
}

// push appends a delta to its key's and returns by how many deltas p grew.
// Two deletions in a row are one (Q8).
func (p *pending[T]) push(d Delta[T], spare *spares[T]) int {
	key := d.Item.Key
	deltas, queued := p.deltas[key]
	if !queued {
		p.keys = append(p.keys, key)
		deltas = spare.get()
	}
	if last := deltas.Newest(); last != nil && last.Type == Deleted && d.Type == Deleted {
		if last.FinalStateUnknown && !d.FinalStateUnknown {
			d.Initial = last.Initial
			*last = d
		}
		return 0
	}
	p.deltas[key] = append(deltas, d)
	p.peak = max(p.peak, len(p.keys))
	return 1
}

func (p *pending[T]) newest(key object.Key) *Delta[T] { return p.deltas[key].Newest() }

// moveFirst moves the oldest key and its deltas to another pending.
func (p *pending[T]) moveFirst(to *pending[T]) Deltas[T] {
	key := p.keys[0]
	p.keys[0] = object.Key{} // the array outlives the slice: let go of the strings
	p.keys = p.keys[1:]
	deltas := p.deltas[key]
	delete(p.deltas, key)
	if len(p.keys) == 0 && p.peak > keepCap {
		*p = newPending[T]()
	}
	to.keys = append(to.keys, key)
	to.deltas[key] = deltas
	return deltas
}

// reset empties p and gives its slices to spare. What a burst made large is
// let go: the memory, and the time to clear it, which for a map is that of its
// peak.
func (p *pending[T]) reset(spare *spares[T]) {
	for _, deltas := range p.deltas {
		spare.put(deltas)
	}
	if !worthKeeping(len(p.keys), p.peak) {
		*p = newPending[T]()
		*spare = nil
		return
	}
	clear(p.deltas)
	clear(p.keys)
	p.keys = p.keys[:0]
}

// spares are short, empty Deltas to use again: most keys have one delta.
type spares[T metav1.Object] []Deltas[T]

func (s *spares[T]) get() Deltas[T] {
	n := len(*s)
	if n == 0 {
		return nil
	}
	d := (*s)[n-1]
	(*s)[n-1] = nil
	*s = (*s)[:n-1]
	return d
}

func (s *spares[T]) put(d Deltas[T]) {
	if len(*s) < keepCap && cap(d) <= 4 {
		clear(d)
		*s = append(*s, d[:0])
	}
}
