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
	left // the selection
)

// NewHistory returns the history of an empty server.
func NewHistory() *History { return &History{epochs: []*epoch{{at: State{}}}} }

// Set records that the object was written, and is in the selection.
func (h *History) Set(key object.Key, uid types.UID, rv string) { h.record(change{rv, key, uid, set}) }

// Delete records that the object was deleted.
func (h *History) Delete(key object.Key, rv string) { h.record(change{rv, key, "", deleted}) }

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
	h.epochs = append(h.epochs, &epoch{changes: append([]change(nil), kept...), at: State{}})
}

func (h *History) rollbacks() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.epochs) - 1
}

// explains reports whether the server had the state at rv, in any epoch. If not,
// it returns what it had in the newest, and the keys that had left the selection.
func (h *History) explains(rv string, got State) (ok bool, want State, gone map[object.Key]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.epochs) - 1; i >= 0; i-- {
		state := h.epochs[i].stateAt(rv)
		if maps.Equal(state, got) {
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
		e.at, e.n = State{}, 0
	}
	for ; e.n < n; e.n++ {
		switch c := e.changes[e.n]; c.what {
		case set:
			e.at[c.key] = Version{c.uid, c.rv}
		default:
			delete(e.at, c.key)
		}
	}
	return e.at
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
