// Package child runs a part of the program in a process of its own, so that
// its CPU time and memory can be told from everything else's.
//
//	parent                              child (the same binary)
//	Start ─────────────── exec ───────▶ Run(mux)
//	Call(method, request) ── stdin ───▶ the method's function
//	        reply, error  ◀─ stdout ──  one line of JSON each way
//	Close, or death ─── stdin ends ───▶ ends
//
// # Promises
//
//   - C1 A child never outlives its parent, however the parent ends: the end of
//     its standard input ends it, at once or after a grace period by force.
//   - C2 Calls to one child run one at a time, in order.
//   - C3 A child that dies fails the pending call with an [*ExitError], which
//     quotes the one line of its standard error that says why.
//   - C4 Close returns when the child is gone and reaped.
//   - C5 Ctrl-C on a terminal reaches the parent alone; the parent decides when
//     the children end.
//
// # Not promised
//
// The two sides are one binary of one build; the messages are no stable format.
package child
