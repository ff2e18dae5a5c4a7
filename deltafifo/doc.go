// Package deltafifo is the queue between a reflector and a store: it carries
// changes, in order, from the one who reads the wire to the one who applies
// them, and holds the reader back when the applier doesn't keep up.
//
//	                Add  Update  Delete  Replace  Bookmark  Resync
//	                                 │
//	                                 ▼   blocks while full
//	              ┌──────────────────┴──────────────────┐
//	InOrder       a1 b2 a3                              DeltaFIFO
//	one slice of  │                     deltas by key,  │ a: a1 a3
//	deltas        ▼                     keys in order   ▼ b: b2
//	PopBatch   [a1 b2 a3]               PopBatch   [a1 a3 b2 · Bookmark 3]
//	                                    Pop        [a1 a3], then [b2]
//	              │                                     │
//	              └──────────────────┬──────────────────┘
//	                                 ▼   no lock held
//	                              process
//
// [InOrder] hands over every write as it was made; it is what informers use.
// [DeltaFIFO] is the classic: it gathers the changes of each object, and works
// out by itself, from the store it is told of, what a list has deleted. Both
// are a [Queue].
//
// # Promises
//
//   - Q1 Nothing is lost, doubled or made up: process is given every write that
//     succeeded once, in an order that keeps that of the writes to each object.
//     Exceptions are Q7 to Q9, and bookmarks, of which only the newest counts.
//   - Q2 The depth never exceeds MaxDepth by more than one write. A write that
//     finds no room waits; ctx and Close end the wait at once.
//   - Q3 A write that fails has changed nothing. After Close every write fails
//     with [ErrClosed], and what was queued before can still be popped.
//   - Q4 Calls of process never overlap, whatever the number of poppers, and no
//     lock is held meanwhile: writes go on.
//   - Q5 Synced is closed when the process that was given the last delta of the
//     first Replace has returned, not before. If an Add, Update or Delete
//     came before any Replace, it is closed by that write; if the first
//     Replace queues nothing in a DeltaFIFO, by that Replace. If process
//     fails on initial deltas, Synced stays open until a Replace made after
//     that failure has been processed.
//   - Q6 Versions never run ahead of content: once a batch is applied, the store
//     stands for the last non-empty [Delta.Version] in it.
//   - Q7 DeltaFIFO: a key is queued once, however many deltas it has.
//   - Q8 DeltaFIFO: two deletions of an object in a row are one, and the one that
//     knows the final state is kept. A deletion of what is neither queued,
//     being processed nor stored is dropped.
//   - Q9 DeltaFIFO: Replace queues a tombstone for exactly those objects that
//     would otherwise be left in the store and are neither listed nor to be
//     kept. What is being processed counts as the store's.
//   - Q10 A queue holds no object that it has handed over, and no memory for ever
//     that a burst made it take.
//
// Within a DeltaFIFO's batch the objects come in the order in which each was
// first queued, so that a3 comes before b2. The batch as a whole is up to
// date; a part of it isn't.
//
// # Not promised
//
//   - What process failed on isn't queued again. The error is returned to who
//     popped; a relist repairs the store.
//   - Writes by several goroutines are ordered by who gets the lock.
//   - Neither queue looks at what it carries. Stale or repeated events are passed
//     on; resourceVersions aren't compared, only passed on in order of writing.
//   - The objects aren't copied.
//
// # When not to use it
//
// For work that may be retried or delayed, use a work queue of keys: this one
// has no retry. Where an order between objects matters, or every state counts,
// use InOrder and not DeltaFIFO. A DeltaFIFO is there for learning, for
// comparing, and for a consumer that wants all changes of an object at a time.
package deltafifo
