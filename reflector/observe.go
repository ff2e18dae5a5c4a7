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
	case dataApply, dataBookmark, dataFresh:
		st.FreshAt = r.heard
		if eff.data == dataCommit && s.mode != modeStream {
			st.FreshAt = r.asked // a list is of a time after that
		}
		if eff.data == dataFresh {
			break
		}
		tell = st.LastError != nil
		st.LastError = nil
	case dataDrop:
		st.Dropped++
	}
	if s.failures > st.Attempts {
		st.LastError = r.err
		tell = true
		if st.Attempts == 0 {
			st.FailingSince = time.Now()
		}
	}
	if s.failures == 0 {
		st.FailingSince = time.Time{}
		if st.Attempts > 0 { // it is over, also if all that came is the answer to a probe
			tell = tell || st.LastError != nil
			st.LastError = nil
		}
	}
	st.Attempts = s.failures
	var now time.Time
	if eff.next != doRead { // an event changes no phase, and is to cost little
		now = time.Now()
	}
	switch eff.next {
	case doList:
		if s.list.check == checkProbe {
			tell = st.enter(Watching, now) || tell // to the outside it is part of the watch
			break
		}
		if eff.list.Continue == "" {
			st.Lists++
		}
		tell = st.enter(Listing, now) || tell
	case doWatch:
		st.Watches++
		if eff.initial {
			st.Lists++
			st.WatchLists++
			tell = st.enter(Listing, now) || tell
		} else {
			tell = st.enter(Watching, now) || tell
		}
	case doRead:
		if eff.data == dataCommit {
			tell = st.enter(Watching, time.Now()) || tell
		}
	case doWait:
		st.NextAttempt = now.Add(eff.floor + time.Duration(r.opts.Rand()*float64(eff.ceiling)))
		phase := Waiting
		switch {
		case s.polling != pollNo && s.failures == 0:
			phase = Polling
		case s.after == modeOpen && s.failures == 0: // between two watches
			phase = Watching
		}
		tell = st.enter(phase, now) || tell
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

// setAside reports the object of an event that can't be used.
func (r *Reflector[T]) setAside(ev Event[T]) {
	r.quarantined(Quarantine{Key: ev.Item.Key, UID: ev.Item.UID, ResourceVersion: ev.Item.ResourceVersion, Err: ev.Quarantined})
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
