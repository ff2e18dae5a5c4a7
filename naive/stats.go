package naive

import (
	"time"

	"informer.example/reflector"
)

// Stats is what a [Poller] says about itself. It is a copy, except that the
// slice is shared and must not be changed.
type Stats struct {
	Polls    int // polls that have ended, failed ones included
	Failures int // failed polls
	Requests int // pages asked for

	// LastError is why the last poll failed, a [*PollError]; nil when it
	// succeeded.
	LastError error
	// LastSuccess is when the state was last known to be whole: the end of
	// the last complete list. The state is at least that old.
	LastSuccess time.Time
	// ResourceVersion is that of the last complete list. It may be empty:
	// some API servers give none.
	ResourceVersion string
	// Objects is how many objects the state holds.
	Objects int
	// Quarantined are the objects of the last complete list that exist but
	// couldn't be used.
	Quarantined []reflector.Quarantine
}

// Stats returns the present figures. It may be called at any time, by any
// goroutine.
func (p *Poller[T]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *Poller[T]) count(change func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.stats)
}
