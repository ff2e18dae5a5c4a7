package reflector

import (
	"maps"
	"time"
)

// Status returns a copy of the present status. It may be called at any time,
// by any goroutine.
func (r *Reflector[T]) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.status
	st.Relists = maps.Clone(st.Relists)
	return st
}

// observe brings the status to what the step decided, after the data was
// handed over, and tells of it if it matters.
func (r *Reflector[T]) observe(s state, eff effect) {
	tell := false

	r.mu.Lock()
	st := &r.status
	st.ResourceVersion = s.progress
	st.LastHeard = r.heard
	switch eff.data {
	case dataCommit:
		if eff.reason != "" {
			if st.Relists == nil {
				st.Relists = make(map[RelistReason]int)
			}
			st.Relists[eff.reason]++
		}
		fallthrough
	case dataApply, dataBookmark:
		tell = st.LastError != nil
		st.LastError = nil
	case dataDrop:
		st.Dropped++
	}
	if s.failures > st.Attempts {
		st.LastError = r.err
		tell = true
	}
	st.Attempts = s.failures
	var now time.Time
	if eff.next != doRead { // an event changes no phase, and is to cost little
		now = time.Now()
	}
	switch eff.next {
	case doList:
		if eff.list.Continue == "" {
			st.Lists++
		}
		tell = st.enter(Listing, now) || tell
	case doWatch:
		st.Watches++
		tell = st.enter(Watching, now) || tell
	case doWait:
		st.NextAttempt = now.Add(eff.floor + time.Duration(r.opts.Rand()*float64(eff.ceiling)))
		tell = st.enter(Waiting, now) || tell
	}
	r.mu.Unlock()

	r.log(s, eff)
	if tell {
		r.tell()
	}
}

// enter moves to a phase and reports whether that is a change.
func (st *Status) enter(p Phase, now time.Time) bool {
	if st.Phase == p {
		return false
	}
	st.Phase, st.Since = p, now
	return true
}

// tell hands the status to OnStatus.
func (r *Reflector[T]) tell() {
	if r.opts.OnStatus != nil {
		r.opts.OnStatus(r.Status())
	}
}

func (r *Reflector[T]) nextAttempt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.NextAttempt
}

func (r *Reflector[T]) quarantined(q Quarantine) {
	r.mu.Lock()
	r.status.Quarantined++
	r.mu.Unlock()
	r.opts.Logger.Warn("object left out", "key", q.Key.String(), "resourceVersion", q.ResourceVersion, "err", q.Err)
	if r.opts.OnQuarantine != nil {
		r.opts.OnQuarantine(q)
	}
}

func (r *Reflector[T]) reused(n int) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	r.status.Reused += n
	r.mu.Unlock()
}

func (r *Reflector[T]) stopped() {
	r.mu.Lock()
	r.status.enter(Stopped, time.Now())
	r.mu.Unlock()
	r.tell()
}

// trouble is what the log was told: one line when it begins or changes its
// nature, one when it is over, however many attempts lie between.
type trouble struct {
	on     bool
	class  errorClass
	reason string
}

func (r *Reflector[T]) log(s state, eff effect) {
	if eff.reason == RelistRollback {
		r.opts.Logger.Error("the server is at an older version than was seen before: its data was restored from a backup; everything is replaced", "resourceVersion", eff.rv)
	}
	switch {
	case s.failures > 0 && eff.next == doWait:
		class, _ := classify(r.err)
		t := trouble{on: true, class: class, reason: reasonOf(r.err)}
		if t != r.trouble {
			r.opts.Logger.Warn("attempt failed", "err", r.err, "attempts", s.failures)
		}
		r.trouble = t
	case r.trouble.on && s.failures == 0:
		r.opts.Logger.Info("recovered", "resourceVersion", s.progress)
		r.trouble = trouble{}
	}
}
