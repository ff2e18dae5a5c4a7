package informer

import (
	"cmp"
	"context"
	"slices"

	"informer.example/object"
)

// notify wakes who waits for a change of the parts. s.mu is held.
func (s *scope[T]) notify() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// nextChange returns a channel that is closed at the next change. s.mu is held.
func (s *scope[T]) nextChange() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// update works out anew whether all parts have synced, and reports whether
// that is so for the first time: the caller then calls markSynced, without the
// lock. s.mu is held.
func (s *scope[T]) update() (first bool) {
	s.notify()
	s.all = s.ctx != nil && !slices.ContainsFunc(s.parts, func(p *part[T]) bool { return !p.synced })
	first = s.all && !s.marked
	s.marked = s.marked || s.all
	return first
}

// partSynced notes that a part's first list has been applied.
func (s *scope[T]) partSynced(p *part[T]) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.synced = true
	return s.update()
}

// waitForSync returns nil when every part has synced, else what is in the way.
func (i *Informer[T]) waitForSync(ctx context.Context) error {
	if err := i.lease.check(); err != nil {
		return err
	}
	s := &i.scope
	for {
		s.mu.Lock()
		all := s.all
		var failure error
		for _, p := range s.parts {
			if p.err != nil && !p.synced && failure == nil {
				failure = p.err
			}
		}
		changed := s.nextChange()
		s.mu.Unlock()
		switch {
		case all:
			return nil
		case failure != nil:
			return failure
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-i.lease.released():
			return ErrReleased
		case <-i.stopped:
			return cmp.Or(i.lease.check(), i.Err())
		}
	}
}

// version is what the whole store stands for once p's part of it stands for
// rv; "" is as before.
func (s *scope[T]) version(p *part[T], rv string) string {
	if p.whole || rv == "" {
		return rv
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowestWith(p, rv)
}

// lowest is the version that all parts have reached.
func (s *scope[T]) lowest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowestWith(nil, "")
}

// lowestWith is the lowest of the parts' versions, where p's is rv. Parts that
// have none yet don't count: nothing of them is in the store. It is "" when
// there are no others or when two can't be compared. s.mu is held.
func (s *scope[T]) lowestWith(p *part[T], rv string) string {
	low := ""
	for _, have := range s.parts {
		v := have.progress
		if have == p {
			v = rv
		}
		switch {
		case v == "":
		case low == "":
			low = v
		default:
			c, err := object.CompareVersions(v, low)
			if err != nil {
				return ""
			}
			if c < 0 {
				low = v
			}
		}
	}
	return low
}

// moved notes how far a part has come, once the commit is done.
func (s *scope[T]) moved(p *part[T], rv string) {
	if rv == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.progress = rv
	if !p.whole {
		s.notify()
	}
}

// reached is the version that all parts have reached; with one part, that is
// the store's. It is "" while a namespace has no list yet.
func (s *scope[T]) reached(store string) string {
	if s.newSource == nil {
		return store
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.progress == "" {
			return ""
		}
	}
	return s.lowestWith(nil, "")
}
