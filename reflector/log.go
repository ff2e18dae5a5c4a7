package reflector

import "time"

// habits are the lasting changes of how the reflector works, as told to the log.
type habits struct {
	noStreams bool
	polling   polling
}

// log tells what somebody may have to act on, or will want to have known.
func (r *Reflector[T]) log(s state, eff effect) {
	if eff.reason == RelistRollback {
		r.opts.Logger.Error("the server is at an older version than was seen before: its data was restored from a backup; everything is replaced", "resourceVersion", eff.rv)
	}
	if h := (habits{s.noStreams, s.polling}); h != r.habits {
		if h.noStreams != r.habits.noStreams {
			r.opts.Logger.Info("the server gives no watch-list; lists come in pages from now on", "err", r.err)
		}
		if h.polling != r.habits.polling {
			r.opts.Logger.Info("whether the resource can be watched has changed", "polled", h.polling != pollNo, "interval", r.opts.PollInterval)
		}
		r.habits = h
	}
	switch {
	case s.failures > 0 && eff.next == doWait:
		class, _ := classify(r.err)
		if unlogged, tell := r.trouble.failed(nature{class, reasonOf(r.err)}, time.Now()); tell {
			r.opts.Logger.Warn("attempt failed", "err", r.err, "attempts", s.failures, "unlogged", unlogged)
		}
		r.failures = s.failures
	case s.failures == 0 && r.trouble.over():
		r.opts.Logger.Info("recovered", "resourceVersion", s.progress, "attempts", r.failures)
	}
}

// trouble is what the log was told of failures. Each nature of them is told when
// it begins, and again after a minute, two, four, up to an hour: one that never
// ends isn't forgotten, and costs some thirty lines on its first day. It is the
// same for one that is over and back in no time, and for two that take turns.
type trouble struct {
	told   bool // a line that awaits its "recovered"
	kinds  []ailment
	shared ailment // of what comes beyond mostAilments
}

// nature tells one kind of failure from another. Part of it is the server's
// word, so there may be any number.
type nature struct {
	class  errorClass
	reason string
}

// ailment is one nature of failure, as the log knows it.
type ailment struct {
	nature
	last     time.Time // when it failed last
	next     time.Time // before that, it isn't told
	pause    time.Duration
	unlogged int // failures since the last line
}

const (
	mostAilments = 8
	shortestRest = time.Minute // between two lines about the same
	longestRest  = time.Hour
	// healed is how long something must not have failed to be news again.
	healed = 10 * time.Minute
)

// failed reports whether a failure is to be logged, and how many of its nature
// weren't since the last that was.
func (t *trouble) failed(n nature, now time.Time) (unlogged int, tell bool) {
	a := t.of(n)
	if now.Sub(a.last) >= healed {
		*a = ailment{nature: a.nature}
	}
	a.last = now
	if now.Before(a.next) {
		a.unlogged++
		return 0, false
	}
	a.pause = min(max(2*a.pause, shortestRest), longestRest)
	a.next = now.Add(a.pause)
	unlogged, a.unlogged = a.unlogged, 0
	t.told = true
	return unlogged, true
}

// of finds what is known of a nature.
func (t *trouble) of(n nature) *ailment {
	for i := range t.kinds {
		if t.kinds[i].nature == n {
			return &t.kinds[i]
		}
	}
	if len(t.kinds) == mostAilments {
		return &t.shared
	}
	t.kinds = append(t.kinds, ailment{nature: n})
	return &t.kinds[len(t.kinds)-1]
}

// over reports whether it is to be logged that all is well again.
func (t *trouble) over() bool {
	was := t.told
	t.told = false
	return was
}
