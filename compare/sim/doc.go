// Package sim plays random programs against an informer, in virtual time, and
// makes the shortest one of each that fails.
//
//	seed ── Generate ──▶ Program ── Play ──▶ compare/scenario: apisim, faults,
//	                        ▲                  informer, handlers, indexes
//	                        │                        │
//	                        └──────── Shrink ◀───────┘ Failure
//	                                    │
//	                                    ▼
//	                       S42_i1.txtar, a scenario like any other
//
// A program is a scenario, in the language of testdata/scenarios: writes, the
// faults F1 to F55, handlers that join late, stall, panic and leave, indexes that
// come and go, up to three servers over one history that lag, restart, forget and
// are rolled back. The seed also chooses queue, encoding, list or watch-list,
// selector, history and so on.
//
//	go test ./compare/sim                        500 seeds, as CI does
//	go test ./compare/sim -seeds 20000 -seed 1   more
//	go test ./compare/sim -seeds 1 -seed 42      one again
//
// # What is checked
//
// Whenever nothing moves, and package scenario looks ten times in each stretch of
// time: the invariants I1 to I14; each index, and a list by label, against a
// recount; that no snapshot taken before has changed, and that the differences
// from it lead to the present state. In each call of a handler: that it is a legal
// step. At every rest, when the faults have ended: that the store is the server's
// state, that what each handler was told amounts to the store, that it has synced
// and nothing waits for it, and that a handler that never fell behind was told all
// that another was, in the same order. At the end: that no goroutine is left, and
// that it ended at once.
//
// # Promises
//
//   - Z1 A seed is one program, on every machine, as long as Generate doesn't
//     change.
//   - Z2 A program means the same in every run: its time is virtual, the names,
//     versions and waits in it are no chance. Not so the order of steps of
//     goroutines that are awake at once: how many events a commit takes, whether
//     a handler that was just woken sees one or two, and UIDs. About nine seeds of
//     ten make the same requests and calls at the same nanoseconds twice, and with
//     the race detector, which shakes the order, seven.
//   - Z3 What Shrink returns fails as the program did that it was given: what was
//     broken first has the same id.
//   - Z4 A server lies in a program only where a client can know better. So each
//     failure is a defect of the informer, or of the checker.
//
// # Not promised
//
// That a seed that has failed fails again, if it depends on such an order: then
// shrinking plays each program several times, and keeps what it can. A panic in a
// goroutine of the informer ends the process: with -v the last parts that were
// begun are those to play again.
//
// Sets of namespaces, Keep, transforms and the pull form of handlers are in no
// program, nor are sockets.
package sim
