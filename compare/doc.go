// Package compare runs several implementations of "a local cache of pods, and a
// handler that is told each change" side by side, and measures what they cost
// and what they lose.
//
//	             ┌ server process ┐  list, watch  ┌ subject process ┐
//	schedule ───▶│ apisim         │◀─────────────▶│ naive │ ours │  │
//	(seeded)     └───────┬────────┘               │ client-go       │
//	                     │ writes: state, time    └────────┬────────┘
//	                     │                                 │ handler calls: state, time
//	                     └────────────▶ judge ◀────────────┘ CPU, memory, wire
//	                                      │
//	                                    Result ──▶ table, JSON
//
// The subjects run one after the other, each in a process of its own. With the
// simulated server each gets a fresh server process and the same writes at the
// same offsets, so that on a machine with few cores no subject pays for
// another's work. The server and this package's coordinator share the machine
// with the subject; their own CPU time is not in its figure.
//
// On a real cluster all subjects share one namespace, which is made for the
// run and removed after it. Its pods are put back to the same set before each
// subject. They name a scheduler that does not exist, so no pod ever starts.
//
// One subject's run: start it and wait for its first sync; write for
// Options.Duration; read the server's final state; wait until the subject's
// cache equals it, or Options.SettleTimeout has passed; take the figures.
//
// # Promises
//
//   - M1 A request is counted where it leaves the subject, at its transport: one
//     for each page, watch and retry. Bytes are those read from its sockets,
//     headers and compression as they are.
//   - M2 CPU time and peak memory are the operating system's. CPU counts from
//     the subject's start, its first sync included, to the end of settling; what
//     the process spent before is not in it. A figure that the operating system
//     does not give is unknown, never zero.
//   - M3 Staleness of a write is the time from just before it was sent to the
//     handler call that told its state, or a later state of the same object. A
//     write whose object the handler was never told of again has none; it counts
//     as missed.
//   - M4 A missed state was written and never told: neither that state of the
//     object nor, for a deletion, the deletion of that object.
//   - M5 Converged means that the cache held exactly the server's keys, each with
//     the server's UID and resourceVersion.
//   - M6 All subjects get the same handler, the same encoding, the same selection
//     and the same schedule of writes.
//   - M7 No process outlives Run, and no namespace, whichever way Run ends, as
//     long as the API server answers.
//
// # Not promised
//
// One run is one sample: figures move from run to run, with the load of the
// machine above all. Clocks are the machine's wall clock; if it is set during a
// run, staleness is wrong. Peak memory is of the whole process, its program text
// and the garbage collector's head room included.
package compare
