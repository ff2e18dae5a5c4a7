package indexer

import (
	"maps"
	"slices"

	"informer.example/object"
)

// buildChunk is how many objects are put into a new index under one lock, so
// that other writers wait for tens of microseconds at most.
const buildChunk = 64

// newIndexes makes indexes, not yet ready, in the order of their names.
func (ix *Indexer[T]) newIndexes(indexers Indexers[T]) []*index[T] {
	list := make([]*index[T], 0, len(indexers))
	for _, name := range slices.Sorted(maps.Keys(indexers)) {
		ix.lastID++
		list = append(list, &index[T]{id: ix.lastID, name: name, fn: indexers[name]})
	}
	return list
}

// AddIndexers adds indexes, at any time. Readers see them from the moment when
// they hold everything, all of them at once. The map is copied.
//
// An [*AddIndexersError] means that nothing was added: a name is taken, or a
// function is nil. [IndexErrors] mean that all were added, and which objects
// they don't hold because a function failed.
func (ix *Indexer[T]) AddIndexers(indexers Indexers[T]) error {
	return ix.addIndexers(indexers, nil)
}

// addIndexers is AddIndexers; answers, by name, are what index.answers says.
func (ix *Indexer[T]) addIndexers(indexers Indexers[T], answers map[string]string) error {
	if len(indexers) == 0 {
		return nil
	}
	mine, from, err := ix.register(indexers, answers)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // an index function ended the goroutine
			ix.withdraw(mine)
		}
	}()
	// From here on writers keep the new indexes up to date for whatever they
	// store. What was there before comes from the snapshot, except what a
	// writer has replaced in the meantime.
	var errs []*IndexError
	type built struct {
		key  object.Key
		vals []value
	}
	chunk := make([]built, 0, buildChunk)
	flush := func() {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		for _, b := range chunk {
			e := ix.keys.find(b.key)
			if e == nil || e.generation >= mine[0].born {
				continue
			}
			for _, x := range mine {
				if vals := of(b.vals, x.id); len(vals) > 0 {
					if x.early == nil {
						x.early = map[object.Key][]value{}
					}
					x.early[b.key] = vals
					x.move(e.slot, nil, vals)
				}
			}
		}
		chunk = chunk[:0]
	}
	for item := range from.Items() {
		var vals []value
		vals, errs = appendValues(mine, item, nil, errs)
		if chunk = append(chunk, built{item.Key, vals}); len(chunk) == buildChunk {
			flush()
		}
	}
	flush()
	done = true
	if err := ix.publish(mine); err != nil {
		return err
	}
	return indexErrors(errs)
}

// register puts new indexes in force for writers, and returns the state before.
func (ix *Indexer[T]) register(indexers Indexers[T], answers map[string]string) ([]*index[T], *Snapshot[T], error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	set := ix.set.Load()
	for _, name := range slices.Sorted(maps.Keys(indexers)) {
		switch {
		case set.byName(name) != nil:
			return nil, nil, &AddIndexersError{Name: name, Reason: "an index of this name exists"}
		case indexers[name] == nil:
			return nil, nil, &AddIndexersError{Name: name, Reason: "the index function is nil"}
		}
	}
	mine := ix.newIndexes(indexers)
	for _, x := range mine {
		x.answers = answers[x.name]
	}
	ix.set.Store(set.with(mine, set.generation+1))
	return mine, ix.snapshotLocked(), nil
}

// publish shows new indexes to readers.
func (ix *Indexer[T]) publish(mine []*index[T]) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	set := ix.set.Load()
	for _, x := range mine {
		if !slices.Contains(set.list, x) {
			ix.set.Store(set.without(mine, set.generation+1))
			return &AddIndexersError{Name: x.name, Reason: "it was removed while it was being built"}
		}
	}
	for _, x := range mine {
		x.ready = true
	}
	ix.cached.Store(nil) // it lacks them
	return nil
}

// withdraw takes back indexes that will never be published.
func (ix *Indexer[T]) withdraw(mine []*index[T]) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	set := ix.set.Load()
	ix.set.Store(set.without(mine, set.generation+1))
}

// RemoveIndexer removes an index. Snapshots taken before keep it.
func (ix *Indexer[T]) RemoveIndexer(name string) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	set := ix.set.Load()
	x := set.byName(name)
	if x == nil {
		return &UnknownIndexError{Name: name, Known: set.names()}
	}
	ix.set.Store(set.without([]*index[T]{x}, set.generation+1))
	ix.cached.Store(nil)
	return nil
}

// GetIndexers returns a copy of the index functions.
func (ix *Indexer[T]) GetIndexers() Indexers[T] {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	indexers := Indexers[T]{}
	for _, x := range ix.set.Load().list {
		if x.ready {
			indexers[x.name] = x.fn
		}
	}
	return indexers
}
