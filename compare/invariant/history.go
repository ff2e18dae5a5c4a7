package invariant

import (
	"maps"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// Version is one version of one object.
type Version struct {
	UID types.UID
	RV  string
}

// State is what exists: the version of each object.
type State map[object.Key]Version

// History is what the server had, as far as a client's selectors let it see. It
// is safe for concurrent use. Writes are recorded in the order of their versions.
type History struct {
	mu     sync.Mutex
	epochs []*epoch // one, and one more for each rollback
}

type epoch struct {
	changes []change
	// at is the state behind the first n changes. Questions move forwards,
	// mostly, and so does it.
	at State
	n  int
	// lingering is what a client may have besides: what a group took whose
	// deletions share a version, until the key is written again.
	lingering map[object.Key]lingerer
}

// lingerer is an object that a group took: its last version, and that of the
// group.
type lingerer struct {
	Version
	gone string
}

type change struct {
	rv   string
	key  object.Key
	uid  types.UID
	what what
}

type what uint8

const (
	set what = iota
	deleted
	together // deleted, with others in one version
	left     // the selection
)

// NewHistory returns the history of an empty server.
func NewHistory() *History { return &History{epochs: []*epoch{newEpoch(nil)}} }

func newEpoch(changes []change) *epoch {
	return &epoch{changes: changes, at: State{}, lingering: map[object.Key]lingerer{}}
}

// Set records that the object was written, and is in the selection.
func (h *History) Set(key object.Key, uid types.UID, rv string) { h.record(change{rv, key, uid, set}) }

// Delete records that the object was deleted.
func (h *History) Delete(key object.Key, rv string) { h.record(change{rv, key, "", deleted}) }

// DeleteTogether records that the objects were deleted in one revision. A client
// that has seen one of the deletions stands at that version. If its watch ends
// there, the others are never sent, and what it has of them lingers until its
// next list. Such objects may linger; those that it has seen go may not return.
func (h *History) DeleteTogether(keys []object.Key, rv string) {
	for _, key := range keys {
		h.record(change{rv, key, "", together})
	}
}

// Leave records that the object was written and is no longer in the selection.
func (h *History) Leave(key object.Key, rv string) { h.record(change{rv, key, "", left}) }

func (h *History) record(c change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.epochs[len(h.epochs)-1]
	e.changes = append(e.changes, c)
}

// Rollback records that the server went back to the state at rv. What was seen
// before stays explainable.
func (h *History) Rollback(rv string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.epochs[len(h.epochs)-1]
	kept := last.changes[:last.upTo(rv)]
	h.epochs = append(h.epochs, newEpoch(append([]change(nil), kept...)))
}

func (h *History) rollbacks() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.epochs) - 1
}

// explains reports whether the server had the state at rv, in any epoch, to a
// client that had before what before says. If not, it returns what it had in the
// newest, and the keys that had left the selection.
func (h *History) explains(rv string, got State, before storeView) (ok bool, want State, gone map[object.Key]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.epochs) - 1; i >= 0; i-- {
		state := h.epochs[i].stateAt(rv)
		if maps.Equal(state, got) || h.epochs[i].lingers(got, before) {
			return true, nil, nil
		}
		if want == nil {
			want, gone = maps.Clone(state), h.epochs[i].leftBy(rv)
		}
	}
	return false, want, gone
}

// upTo is how many changes are not newer than rv.
func (e *epoch) upTo(rv string) int {
	return sort.Search(len(e.changes), func(i int) bool { return object.Newer(e.changes[i].rv, rv) })
}

func (e *epoch) stateAt(rv string) State {
	n := e.upTo(rv)
	if n < e.n {
		e.at, e.lingering, e.n = State{}, map[object.Key]lingerer{}, 0
	}
	for ; e.n < n; e.n++ {
		switch c := e.changes[e.n]; c.what {
		case set:
			e.at[c.key] = Version{c.uid, c.rv}
			delete(e.lingering, c.key)
		case together:
			e.lingering[c.key] = lingerer{e.at[c.key], c.rv}
			delete(e.at, c.key)
		default:
			delete(e.at, c.key)
		}
	}
	return e.at
}

// lingers reports whether got is the state at hand and nothing besides but what
// lingers. What the client had lost at the group's version or later is back, and
// doesn't linger.
func (e *epoch) lingers(got State, before storeView) bool {
	if len(e.lingering) == 0 {
		return false
	}
	for key, v := range e.at {
		if got[key] != v {
			return false
		}
	}
	for key, v := range got {
		if _, lives := e.at[key]; lives {
			continue
		}
		l, known := e.lingering[key]
		if !known || l.Version != v {
			return false
		}
		if _, had := before.state[key]; !had && before.rv != "" && !object.Newer(l.gone, before.rv) {
			return false
		}
	}
	return true
}

// leftBy returns the keys whose last change up to rv took them out of the
// selection.
func (e *epoch) leftBy(rv string) map[object.Key]bool {
	gone := make(map[object.Key]bool)
	for _, c := range e.changes[:e.upTo(rv)] {
		gone[c.key] = c.what == left
	}
	return gone
}
