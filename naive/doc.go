// Package naive keeps up with an API server in the two ways that come to mind
// before one knows informers. One is right and dear, the other cheap and wrong.
//
//	Poller                                BareWatch (wrong, for learning)
//
//	Source.List, page by page             Source.Watch from no version
//	   │  failed or partial: dropped          │  ended: the next one
//	   ▼                                      ▼
//	after ── Diff(before, after)          each event, taken at its word
//	   │          │                           │          │
//	   ▼          ▼                           ▼          ▼
//	the state   handler                   a map        handler
//
// [Poller] asks for everything, again and again, and finds out what changed by
// comparing ([Diff]). It needs the list verb alone, so it also serves
// resources that can't be watched, and API servers whose lists have no
// resourceVersion.
//
// [BareWatch] is the loop `for event := range watch.ResultChan()`, with the map
// that such programs keep beside it. It is here to be compared. Don't use it.
//
// # Diff promises
//
//   - N1 A key that is in before only is Deleted, with its last known state.
//   - N2 A key that is in after only is Added.
//   - N3 The same UID and the same, known, resourceVersion: nothing.
//   - N4 The same UID otherwise: Updated.
//   - N5 Another UID: Deleted, then Added, with nothing between them.
//   - N6 Changes come in key order ([object.Key.Compare]), which is the API server's.
//   - N7 Applying the changes to before, one by one, gives after.
//   - N8 Neither state is changed.
//
// # Poller promises
//
//   - N9 A poll that fails, or ends before the last page, changes nothing and
//     tells the handler nothing. It is counted, and the next one starts over.
//   - N10 An object that exists but can't be decoded or transformed
//     ([reflector.Quarantine]) isn't taken for deleted: its last usable state
//     stays. When not even its key could be read, nothing is taken for deleted
//     in that poll.
//   - N11 The state moves from one complete list to the next in one step, and
//     before the handler is told. While the handler is told of a poll's
//     changes, reads give the state after all of them.
//   - N12 The handler is called by the goroutine of Run, one call at a time. There
//     are never two polls at once.
//   - N13 The first complete poll's events, and only those, are Initial.
//     HasSynced turns true when the handler has returned from the last of them.
//   - N14 Run returns as soon as its context has ended and the handler's
//     running call has returned. Events of that poll not yet delivered are not
//     delivered.
//
// # Not promised
//
// The handler doesn't see every state. What happens twice between two polls is
// seen once; what is created and deleted between them is never seen. A change
// is heard of up to one interval, and one list, late. A deletion's final state
// is never known: Old is what the last poll saw. Each poll costs a full list on
// the server, on the wire and here, whether or not anything changed. There are
// no indexes, and one handler. Pollers that start together ask together.
//
// # What BareWatch loses
//
// Each has a test that shows it on a server:
//
//   - B1 What is deleted while no watch is open stays in its map for ever.
//   - B2 What is updated while no watch is open comes as Added, a second time
//     and without the state before.
//   - B3 What is created and deleted while no watch is open is never seen,
//     though the server still had both events.
//   - B4 What is deleted and created anew under the same name, while no watch
//     is open, looks like the first object: the deletion is never told.
//   - B5 There is no moment at which it is known to be complete: an empty map and
//     one not filled yet look alike.
//   - B6 Every reconnection sends every object again.
//
// Package reflector is what it takes to mend all six.
package naive
