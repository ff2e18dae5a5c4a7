package invariant

import (
	"fmt"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Handler follows what one handler is told. It replays the calls: each must be a
// legal step from what the ones before it amount to. It is safe for concurrent
// use.
type Handler struct {
	checker *Checker
	name    string

	mu      sync.Mutex // guards what follows; taken before the checker's
	known   map[object.Key]known
	calls   []Call // but for those of a resync
	running int
	synced  bool
	removed bool
}

// Call is one call of a handler.
type Call struct {
	Event
	OldRV   string // UPDATED: of the state that the handler is said to know
	Initial bool
	// Object is what the call is about, Old what came before it. Only their
	// identity counts.
	Object, Old metav1.Object
}

func (c Call) String() string {
	s := fmt.Sprintf("%s %s@%s", c.Type, c.Key, c.RV)
	if c.OldRV != "" {
		s += " from " + c.OldRV
	}
	return s
}

// known is what a handler knows of an object.
type known struct {
	Version
	object metav1.Object
}

// Handler returns the follower of one more handler, which knows nothing yet.
func (c *Checker) Handler(name string) *Handler {
	return &Handler{checker: c, name: name, known: map[object.Key]known{}}
}

// Begin takes a call when it begins.
func (h *Handler) Begin(c Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.judge(c)
	if !c.Resync {
		h.calls = append(h.calls, c)
	}
	if c.Type == "DELETED" {
		delete(h.known, c.Key)
	} else {
		h.known[c.Key] = known{Version{c.UID, c.RV}, c.Object}
	}
	h.running++
}

// End is told that a call returns, or panics.
func (h *Handler) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
}

// Synced says that the handler's registration has synced.
func (h *Handler) Synced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = true
}

// Removed says that the handler has been taken off: no call may begin any more.
func (h *Handler) Removed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed = true
}

// State is what the calls amount to.
func (h *Handler) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := make(State, len(h.known))
	for key, k := range h.known {
		s[key] = k.Version
	}
	return s
}

// judge holds a call against those before it. Called with mu.
func (h *Handler) judge(c Call) {
	was, knows := h.known[c.Key]
	if h.running > 0 {
		h.broken("H4", "is told %v while another call runs", c)
	}
	if h.removed {
		h.broken("H8", "is told %v after it was removed", c)
	}
	if c.Initial && h.synced {
		h.broken("H2", "is told %v as initial after it has synced", c)
	}
	switch {
	case c.Type == "ADDED" && knows:
		h.broken("H1", "is told %v, and knew it at %s", c, was.RV)
	case c.Type != "ADDED" && !knows:
		h.broken("H1", "is told %v, and didn't know it", c)
	case c.Type == "ADDED":
	case c.UID != was.UID:
		h.broken("H5", "is told %v of UID %s, and knew UID %s", c, c.UID, was.UID)
	case c.OldRV != was.RV:
		h.broken("H1", "is told %v, and knew it at %s", c, was.RV)
	case c.Type == "UPDATED" && c.Old != was.object:
		h.broken("H1", "is told %v with another old object than it was told before", c)
	case c.Type == "UPDATED" && c.Resync != (c.RV == was.RV):
		h.broken("H1", "is told %v, resync %t", c, c.Resync)
	}
}

func (h *Handler) broken(id, format string, args ...any) {
	h.checker.Broken(id, "handler %s %s", h.name, fmt.Sprintf(format, args...))
}

// Rest holds what the handler knows against the store, when nothing moves.
func (h *Handler) Rest(store State) {
	if told := h.State(); !maps.Equal(told, store) {
		h.broken("H1", "knows at rest %s", difference(told, store))
	}
}

// MissedNothing holds what the handler was told against what another was, which was
// there before and never fell behind: every call but those of its first picture,
// in the same order.
func (h *Handler) MissedNothing(all *Handler) {
	got, want := h.later(), all.later()
	if len(got) > len(want) {
		h.broken("H6", "was told %d changes, handler %s %d", len(got), all.name, len(want))
		return
	}
	want = want[len(want)-len(got):]
	for i, c := range got {
		if w := want[i]; c.String() != w.String() || c.UID != w.UID {
			h.broken("H6", "was told %v where handler %s was told %v", c, all.name, w)
			return
		}
	}
}

// later returns the calls behind the first picture.
func (h *Handler) later() (calls []Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if !c.Initial {
			calls = append(calls, c)
		}
	}
	return calls
}
