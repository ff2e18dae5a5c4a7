package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// storeView is the store as it was last seen.
type storeView struct {
	rv        string
	rollbacks int
	state     State
}

// Store looks at the store: look returns its version and what is in it, of one
// moment. It is called under a lock, so that two looks can't overtake each other;
// it must not call the checker.
func (c *Checker) Store(look func() (rv string, state State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rv, state := look()
	c.lookedAt(rv, state)
}

func (c *Checker) lookedAt(rv string, state State) {
	before := c.store
	rollbacks := 0
	if c.opts.History != nil {
		rollbacks = c.opts.History.rollbacks()
	}
	rolledBack := rollbacks > before.rollbacks && object.Newer(before.rv, rv)
	c.store = storeView{rv, before.rollbacks, state}
	if rolledBack {
		c.store.rollbacks = rollbacks // one step back for each rollback
	}

	if rv == "" {
		if len(state) > 0 {
			c.broken("I9", "%d objects are in a store that stands for no version", len(state))
		}
		return
	}
	if !rolledBack {
		if object.Newer(before.rv, rv) {
			c.broken("I2", "the store went from version %s back to %s", before.rv, rv)
		}
		for key, now := range state {
			was, known := before.state[key]
			if known && was.UID == now.UID && object.Newer(was.RV, now.RV) {
				c.broken("I7", "in the store %s went from version %s back to %s", key, was.RV, now.RV)
			}
		}
	}
	if c.opts.History == nil {
		return
	}
	ok, want, gone := c.opts.History.explains(rv, state, before)
	if ok {
		return
	}
	for key := range state {
		if _, there := want[key]; !there && gone[key] {
			c.broken("I8", "at version %s the store has %s, which had left the selection", rv, key)
			return
		}
	}
	c.broken("I1", "at version %s the store has %s", rv, difference(state, want))
}

// Synced says whether the client calls itself synced now.
func (c *Checker) Synced(now bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.synced && !now {
		c.broken("I9", "it was synced, and is no longer")
	}
	if now && !c.synced && c.wire.used && !c.wire.opaque && c.wire.states == 0 {
		c.broken("I9", "it is synced, but no whole state was sent")
	}
	c.synced = c.synced || now
}

// Event is what a handler is told.
type Event struct {
	Type string // ADDED, UPDATED, DELETED
	Key  object.Key
	UID  types.UID // of the object, or of the last one known
	RV   string    // of the object; of the deletion, or of the last state known
	// Resync marks an update that changes nothing, on purpose.
	Resync bool
}

// Event takes what a handler is told, in order.
func (c *Checker) Event(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, known := c.told[e.Key]
	switch {
	case e.Type == "ADDED" && known:
		c.broken("I6", "%s is added (UID %s), and was known (UID %s)", e.Key, e.UID, was.UID)
	case e.Type != "ADDED" && !known:
		c.broken("I6", "%s is %s, and was not known", e.Key, strings.ToLower(e.Type))
	case known && e.UID != was.UID:
		c.broken("I6", "%s is %s as UID %s, and was known as UID %s", e.Key, strings.ToLower(e.Type), e.UID, was.UID)
	case known && e.Type == "UPDATED" && !e.Resync && !object.Newer(e.RV, was.RV) && !c.rolledBack():
		c.broken("I7", "%s is updated from version %s to %s", e.Key, was.RV, e.RV)
	case known && e.Type == "DELETED" && object.Newer(was.RV, e.RV) && !c.rolledBack():
		c.broken("I7", "%s is deleted at version %s, and was known at %s", e.Key, e.RV, was.RV)
	}
	if e.Type == "DELETED" {
		delete(c.told, e.Key)
	} else {
		c.told[e.Key] = Version{e.UID, e.RV}
	}
}

// rolledBack reports whether versions may go backwards. Called with mu.
func (c *Checker) rolledBack() bool {
	return c.opts.History != nil && c.opts.History.rollbacks() > 0
}

// Converged holds the store, and what the handler knows, against the server's
// state, once everything has come to rest.
func (c *Checker) Converged(store, server State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(store, server) {
		c.broken("I14", "in the end the store has %s", difference(store, server))
	}
	if told := State(c.told); !maps.Equal(told, server) {
		c.broken("I14", "in the end the handler knows %s", difference(told, server))
	}
}

// Stopped is told the number of goroutines before the client was started and
// after it has ended.
func (c *Checker) Stopped(before, after int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if after > before {
		c.broken("I14", "%d goroutines before, %d after", before, after)
	}
}

// Heap is told by how much the heap grew, and by how much it may.
func (c *Checker) Heap(grown, most int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if grown > most {
		c.broken("I12", "the heap grew by %d bytes, %d are allowed", grown, most)
	}
}

// difference says how a state differs from the one wanted.
func difference(got, want State) string {
	var lines []string
	for key, w := range want {
		switch g, ok := got[key]; {
		case !ok:
			lines = append(lines, fmt.Sprintf("no %s (want %s)", key, w.RV))
		case g != w:
			lines = append(lines, fmt.Sprintf("%s@%s UID %s (want %s UID %s)", key, g.RV, g.UID, w.RV, w.UID))
		}
	}
	for key, g := range got {
		if _, ok := want[key]; !ok {
			lines = append(lines, fmt.Sprintf("%s@%s, which the server has not", key, g.RV))
		}
	}
	slices.Sort(lines)
	if len(lines) > 5 {
		lines = append(lines[:5], fmt.Sprintf("and %d more", len(lines)-5))
	}
	return strings.Join(lines, "; ")
}
