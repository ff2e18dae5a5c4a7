// Package invariant checks, while an informer runs and after it, that it keeps
// what every client of list and watch must keep. It sees the client from
// outside, so it serves any: ours, client-go's, one that a student wrote.
//
//	            ┌──────────── Checker ───────────┐
//	            │ what the server had  (History) │
//	server ──▶ what the client was sent (Transport) ──▶ client ──▶ what its store is   (Store)
//	            │                                │               what its handler is told (Event)
//	            └────────▶ Violations ◀──────────┘
//
// Give it as much as there is. Without a History it can't say what a version
// stands for; without the Transport it can't say what was asked for, and why.
//
// # Invariants
//
//   - I1 The store equals the server's state at the store's version, at every
//     moment. Never half a list. Of objects that were deleted at one version
//     (History.DeleteTogether) some may linger until the next list.
//   - I2 The version of the store never decreases, unless the server was rolled
//     back.
//   - I3 A watch begins only at a version that was delivered: that of a complete
//     list, a marker, a bookmark, a live event. Not that of an object in a list
//     or of the initial state.
//   - I4 The state is asked for again only for a reason: 410, a version too
//     large, a request called invalid, an event that can't be read, a rollback,
//     or a verification that the user has asked for (Options.Verify).
//   - I5 A version that was refused isn't asked for again before another was; a
//     token that came with a 410 never is.
//   - I6 A handler is told an object with another UID under a known name as a
//     deletion and an addition, and nothing is added twice or deleted unknown.
//   - I7 No object goes back to an older version, in the store or for a handler.
//   - I8 What left the selection is not in the store, though it lives.
//   - I9 The client isn't synced before it was sent a whole state, and once it
//     is, it stays so.
//   - I10 Attempts that bring nothing keep a pace: not more than Options.Burst
//     within ten seconds. What a server asks for by Retry-After is waited, once;
//     with a version too large it is about that version, and another may be
//     asked for at once.
//   - I11 No request outlives its time: timeoutSeconds plus Options.Slack for a
//     watch, Options.ListTimeout for a list.
//   - I12 Memory: the heap grows by no more than the caller allows.
//   - I13 A frame that can't be read ends its stream: nothing that came behind
//     it is used.
//   - I14 After the faults the store equals the server's state, and no goroutine
//     is left.
//
// # Handlers
//
// [Handler] follows one handler of several, which joins late, is slow or panics.
// It names what is broken by the promises of package informer: H1 each call is a
// step from what the handler knows, and together they give the store; H2 nothing
// is initial once it has synced; H4 calls don't overlap; H5 another UID is
// deleted and added; H6 a handler that may miss nothing is told what all are; H8
// none is called after it was removed.
//
// # Not promised
//
// The checker looks at moments: when a handler is told something, and when it is
// called. What is wrong in between and right again is not seen. A compressed
// answer, and a page longer than Options.MaxPage, are not looked into; I3, I4 and
// I13 are not checked from there on.
package invariant
