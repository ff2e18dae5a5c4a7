// Package indexer is the store: objects by key, and by whatever else they are
// looked up by, in a form that can hand out an immutable [Snapshot] of itself
// at any moment for next to nothing.
//
//	             Batch ──▶ index functions ──▶ Commit        one writer at a time
//	                       (under no lock)        │
//	Indexer    ┌──────────────────────────────────┴─────────────────────┐
//	  Get ───▶ │ map      key ─▶ entry                no lock           │
//	           │ tree     slots in key order          ┐                 │
//	           │ trees    (value, slot) in order      │ copy on write   │
//	           │ table    slot's id ─▶ entry          ┘                 │
//	           └──────────────────────────────────┬─────────────────────┘
//	                                   Snapshot() │ O(1), copies nothing
//	             ┌────────────────────────────────┴──┐
//	Snapshot 41  │ trees and table, as they were     │   any number of readers,
//	Snapshot 42  │                                   │   no lock
//	             └──────┬────────────────────────────┘
//	                    ▼
//	             Diff(41, 42) ─▶ Added, Updated, Deleted     costs what changed
//
// A key has a slot for as long as it is stored. An update gives its slot another
// entry, and touches no tree. Trees and table are copy on write: nodes that a
// snapshot may see are copied before they are changed, each once; nodes that none
// can see are changed in place. So a store without readers writes as a mutable
// one, and a snapshot costs one copy of each node that is touched later.
//
// # Promises
//
//   - S1 A snapshot never changes, and all its answers agree with each other.
//   - S2 A commit is atomic: a reader sees all of it or nothing, of the objects
//     and of every index.
//   - S3 Everything that lists is in the order of [object.Key.Compare], the API
//     server's own.
//   - S4 An index holds exactly what its function said of each stored object:
//     no value twice, no empty value buckets, no object that is not stored.
//   - S5 Index values are remembered with the object, and removal goes by them.
//     A deletion works whatever has become of the object or the function.
//   - S6 No function of the user (index, key) runs under a lock. It may call any
//     method of the store.
//   - S7 The sequence number grows by one with each commit that changes an
//     object or the resourceVersion, and else stays. As long as nothing
//     changes, indexes included, all snapshots are one.
//   - S8 The changes of [Diff], done to the old snapshot in order, make the new
//     one; and so do those of [Indexer.Commit] and the state before it. Except:
//     an object stored twice by [Indexer.Add] or [Indexer.Update] in one
//     version is no change to Diff.
//   - S9 An index added later is seen when it is complete, or never.
//   - S10 An index function that fails or panics costs its object the place in
//     that one index, and is reported as an [*IndexError]. Nothing else fails.
//   - S11 [Indexer.ReplaceNamespace] changes nothing outside its namespace.
//
// # Not promised
//
// Objects are not copied, neither on the way in nor out: whoever changes a
// stored object changes it in every snapshot, and under the readers' eyes. Copy
// it first (DeepCopy).
//
// Writers are serialized, not fair. Calls of [Indexer.Add] in several
// goroutines are safe; their order is chance.
//
// Memory for a held snapshot is bounded by the objects that it holds, not by
// how many changes there have been since. Holding many old ones holds many old
// objects.
//
// # When not to use it
//
// A store that is only ever read by key, one object at a time, and never
// listed, indexed or compared, is served as well by a map and a mutex: what is
// here beside the map costs writes and memory for nothing.
//
// # Reading the source
//
// tree.go, tree_path.go and tree_edit.go are the ordered tree; table.go the
// table; key_map.go the map; slot.go says how they meet. entry.go, index.go,
// batch.go, commit.go and replace.go write; snapshot.go and reads.go read;
// differences.go and change.go compare.
package indexer
