package compare

import "time"

// Progress is how far a run is.
type Progress struct {
	Subject  string
	Number   int // of the subject, from 1
	Of       int
	Phase    Phase
	Elapsed  time.Duration // in the phase
	Expected time.Duration // of the phase; 0: not known
}

// Phase is what is going on.
type Phase string

const (
	Filling  Phase = "filling the server"
	Syncing  Phase = "first sync"
	Writing  Phase = "writing"
	Settling Phase = "settling"
	Cleaning Phase = "removing what was made"
)

// during runs f and reports the phase at its begin and a few times a second.
func (r *run) during(p Progress, f func() error) error {
	if r.opts.OnProgress == nil {
		return f()
	}
	p.Number, p.Of = r.number, len(r.opts.Subjects)
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		p.Elapsed = time.Since(start)
		r.opts.OnProgress(p)
		select {
		case err := <-done:
			return err
		case <-tick.C:
		}
	}
}
