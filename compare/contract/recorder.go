package contract

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// told is one call of a handler.
type told struct {
	typ     string // ADDED, UPDATED, DELETED
	key     string
	uid, rv string
	oldRV   string // UPDATED: that of the state before
	initial bool   // ADDED
	final   bool   // DELETED: the final state is known
	pod     *corev1.Pod
	old     *corev1.Pod
	at      time.Time
}

func (e told) String() string {
	s := fmt.Sprintf("%s %s@%s", e.typ, e.key, e.rv)
	switch {
	case e.typ == "UPDATED":
		s += " from " + e.oldRV
	case e.initial:
		s += " initial"
	case e.typ == "DELETED" && !e.final:
		s += " final state unknown"
	}
	return s
}

// recorder is a handler that remembers what it is told.
type recorder struct {
	// hook, if set, is called in each call, before it is recorded as returned and
	// with no lock held. n counts from 1.
	hook func(n int, e told)

	mu       sync.Mutex // guards what follows
	events   []told
	returned int
	running  int
	overlaps int
	known    map[string]told // what a replay of the calls gives
	illegal  []string        // calls that fit no replay
}

func (r *recorder) OnAdd(pod *corev1.Pod, initial bool) {
	r.call(told{typ: "ADDED", initial: initial, pod: pod})
}

func (r *recorder) OnUpdate(old, pod *corev1.Pod) {
	r.call(told{typ: "UPDATED", pod: pod, old: old, oldRV: old.ResourceVersion})
}

func (r *recorder) OnDelete(pod *corev1.Pod, final bool) {
	r.call(told{typ: "DELETED", final: final, pod: pod})
}

func (r *recorder) call(e told) {
	e.key, e.uid, e.rv, e.at = keyOf(e.pod), string(e.pod.UID), e.pod.ResourceVersion, time.Now()
	r.mu.Lock()
	if r.running++; r.running > 1 {
		r.overlaps++
	}
	r.events = append(r.events, e)
	n := len(r.events)
	r.apply(e)
	r.mu.Unlock()
	defer func() { // also when the hook panics
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running--
		r.returned++
	}()
	if r.hook != nil {
		r.hook(n, e)
	}
}

// apply replays a call. mu is held.
func (r *recorder) apply(e told) {
	if r.known == nil {
		r.known = make(map[string]told)
	}
	was, known := r.known[e.key]
	switch {
	case e.typ == "ADDED" && known:
		r.illegal = append(r.illegal, e.String()+", which it knew already")
	case e.typ != "ADDED" && !known:
		r.illegal = append(r.illegal, e.String()+", which it didn't know")
	case e.typ == "UPDATED" && e.oldRV != was.rv:
		r.illegal = append(r.illegal, fmt.Sprintf("%v, though it was told %s before", e, was.rv))
	}
	if e.typ == "DELETED" {
		delete(r.known, e.key)
	} else {
		r.known[e.key] = e
	}
}

// all returns what was told.
func (r *recorder) all() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// about returns what was told of one pod.
func (r *recorder) about(name string) []told {
	key := fullKey(name)
	return slices.DeleteFunc(r.all(), func(e told) bool { return e.key != key })
}

// since returns what was told after the first n calls.
func (r *recorder) since(n int) []told { return r.all()[n:] }

func (r *recorder) count() int { return len(r.all()) }

// state is what a replay of the calls gives.
func (r *recorder) state() state {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := make(state)
	for k, e := range r.known {
		s[k] = version{e.uid, e.rv}
	}
	return s
}

// texts shows calls, in short.
func texts(events []told) []string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = e.String()
	}
	return all
}

// show is for failures: at most the first 12.
func show(events []told) string {
	if len(events) == 0 {
		return "nothing was told"
	}
	all := texts(events)
	if len(all) > 12 {
		all = append(all[:12], fmt.Sprintf("and %d more", len(all)-12))
	}
	return "told: " + strings.Join(all, "; ")
}
