package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// pending is a set of keys whose state in a handler's eyes is not the present
// one: for each, what the handler was told and what is newest. It holds one
// entry for a key however often that changes, and none for an object that came
// and went: so it is bounded by the objects that live and those that the
// handler knows (H6).
//
// The entries form a list in the order in which their keys first changed. The
// zero value is empty.
type pending[T metav1.Object] struct {
	byKey       map[object.Key]*pendingKey[T]
	first, last *pendingKey[T]
}

// pendingKey is one key's way from told to now; nil is absence, and never both
// are.
type pendingKey[T metav1.Object] struct {
	key       object.Key
	told, now *object.Item[T]
	end       end[T] // what is known of told's deletion, if it was seen
	source    Source
	seq       uint64        // the commit that first changed the key
	at        time.Duration // and when it was published

	prev, next *pendingKey[T]
}

func (p *pending[T]) len() int { return len(p.byKey) }

// note takes in a change that the segment s tells.
func (p *pending[T]) note(c indexer.Change[T], s *segment[T]) {
	key := c.Key()
	e := p.byKey[key]
	if e == nil {
		if p.byKey == nil {
			p.byKey = make(map[object.Key]*pendingKey[T])
		}
		e = &pendingKey[T]{key: key, told: c.Old, source: s.source, seq: s.seq, at: s.at, prev: p.last}
		if p.last == nil {
			p.first = e
		} else {
			p.last.next = e
		}
		p.last = e
		p.byKey[key] = e
	}
	e.now = c.New
	e.source = both(e.source, s.source)
	if c.Type == indexer.Deleted && e.told != nil && e.told.UID == c.Old.UID {
		e.end = end[T]{c.Final, c.Cause}
	}
	if e.told == nil && e.now == nil {
		p.remove(e)
	}
}

func (p *pending[T]) remove(e *pendingKey[T]) {
	delete(p.byKey, e.key)
	if len(p.byKey) == 0 {
		p.byKey = nil // a map keeps the memory of its largest day
	}
	if e.prev == nil {
		p.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		p.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

// both is the source of a step that sums up two: a watch's, which is always
// true, where they differ.
func both(a, b Source) Source {
	if a == b {
		return a
	}
	return FromWatch
}

// end is how an object went: its last state, nil if that isn't known, and why.
type end[T metav1.Object] struct {
	final *object.Item[T]
	cause uint8
}

// steps leads from one state of a key to another; nil is absence. They are
// none, one, or two where the object was made anew (H5). gone is how told went, if
// it did.
func steps[T metav1.Object](told, now *object.Item[T], gone end[T]) []indexer.Change[T] {
	switch {
	case told == nil && now == nil:
		return nil
	case told == nil:
		return []indexer.Change[T]{{Type: indexer.Added, New: now}}
	case now == nil:
		return []indexer.Change[T]{{Type: indexer.Deleted, Old: told, Final: gone.final, Cause: gone.cause}}
	case told.UID != now.UID:
		return []indexer.Change[T]{{Type: indexer.Deleted, Old: told, Final: gone.final, Cause: gone.cause}, {Type: indexer.Added, New: now}}
	case told.SameVersion(*now):
		return nil
	}
	return []indexer.Change[T]{{Type: indexer.Updated, Old: told, New: now}}
}
