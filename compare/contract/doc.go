// Package contract holds an informer against the promises that its users rely
// on: one clause each, with an id, one sentence, and a test on apisim in virtual
// time.
//
//	Implementation ── New(Config) ──▶ Subject ◀── list, watch ── apisim, faults
//	      │                              │
//	      │ Lacks, Differs               ▼ handler calls, reads
//	      └───────────▶ Run ◀──────── clause ──▶ docs/conformance.md
//
// # Promises
//
//   - R1 Every clause runs on every implementation. One that it says not to keep
//     must really be broken, and one that it doesn't name must hold.
//   - R2 A failure says the clause and its sentence, what was done, and what was
//     seen.
//   - R3 A clause ends: a Subject that loops without a pause is slowed down, and
//     one that waits for a mutex for ever ends the test with the clause's name.
//
// An implementation needs three methods for reading, Run, and AddHandler. What
// more it can do is a [Capability].
package contract
