// Package reflector keeps a sink at the state of one resource of an API
// server: one complete list, then each change to it, for as long as it runs.
//
//	               bytes                      items, events
//	API server ───────────▶ HTTPSource ───────────────────────▶ Reflector ──▶ Sink
//	            list, watch   decoders: a file each               │    ▲
//	            JSON,         jsonlist  protolist                 ▼    │
//	            protobuf      jsonwatch protowatch                 step
//	                                                      (a pure function)
//
// The reflector is a state machine. [Reflector.Run] does what the machine says
// and tells it what came of it; the machine decides (state.go, step*.go):
//
//	          ┌───────────────── wait ◀──────────────┐
//	          ▼                                      │ failed: the same page
//	──▶  Listing ── last page: commit ──┐            │ again, or a new list
//	      │   ▲                         │            │
//	      └───┘ next page               ▼            │
//	          ▲                      opening ────────┤ failed: the same
//	          │ 410, too large,         │   ▲        │ version again
//	          │ unreadable              ▼   │        │
//	          └──── wait ◀────────── Watching ───────┘
//	                                 │   ▲  │
//	                                 └───┘  └ clean end: reopen where it ended
//	                            event, bookmark
//
// Listing is first tried as a watch-list: the state comes as events, which are
// staged until the end marker, and the same stream goes on as the watch. A
// server that doesn't know them is asked for pages from then on (stepstage.go).
//
// What a list asks for, in this order, each only when the one before won't do:
// "0", whatever the server has at hand (only before the first list is
// complete); not older than what the sink has; "", the most recent state.
//
// # Promises
//
//   - R1 The sink gets a list only when every page has come whole and has a
//     version. A list that is cut, mangled, or older than what the sink has
//     changes nothing.
//   - R2 An object that exists is never taken for deleted: one that can't be
//     decoded or transformed is named in [List].Keep.
//   - R3 Progress, the version up to which the sink has everything, moves only
//     with a list, an event or a bookmark that the sink has taken. It moves
//     back only with a list whose reason is [RelistRollback].
//   - R4 A watch resumes at progress. Another list is made only when the
//     server no longer has that version (410), isn't there yet, or sent
//     something that can't be read. A frame is never skipped.
//   - R5 A version that the server refused isn't asked for again: the next
//     list, or the one after, asks for the most recent state.
//   - R6 Events come in the server's order. One at or below progress is a
//     replay, and dropped; only the deletion of another object may share a
//     version.
//   - R7 After every failure there is a random wait that grows, and begins
//     anew only after a watch has lived for a while. What a server asks for by
//     Retry-After is waited once, in one place. A watch that brought something
//     and ended within seconds is no failure; a short random wait follows it too.
//   - R8 Every answer has a deadline. A server that falls silent is given up.
//   - R9 Run starts no goroutine, and returns at once when its context ends,
//     whatever it is doing.
//   - R10 A transform sees each received object exactly once, before anything
//     else. UID and version are read before it.
//   - R11 Memory is bounded by the objects themselves: items, frames and error
//     texts have caps that act while reading, and a length costs nothing until
//     its bytes have come.
//   - R12 No error holds a credential, and none is sent to another address
//     than the configured one.
//   - R13 With [HTTPSource.Reusing], an object of a list that is stored in the
//     very version that the server sends isn't decoded or transformed again.
//
// # Not promised
//
// Every change that happened: between two lists, and across a relist, an
// object's intermediate states are never seen. Objects deleted together by one
// lease share a version; when a watch breaks between their events, the rest
// shows only at the next relist or verification (Options.VerifyEvery). A watch
// that is silent and open on a server restored from a backup is noticed when it
// expires, not before; when the server has passed the old version again by
// then, only a verification notices.
//
// A list without a version, such as some aggregated APIs send, can't be
// watched from. It is an error, unless Options.PollInterval allows polling.
//
// A deletion that carries a version at or below progress, as old servers
// sent, is dropped and counted; a verification puts it right.
//
// The protocol rules are those of Kubernetes 1.37: "Efficient detection of
// changes" and "Resource versions" in the Kubernetes API concepts, and
// KEP-3157 (watch-list) and KEP-5504 (comparable versions).
package reflector
