// Package scenario runs small stories about an API server that misbehaves, and
// holds an informer against what each expects of it.
//
//	testdata/scenarios/F23_….txtar
//	        │ Parse                     invariant.Checker
//	        ▼                                 ▲
//	     Scenario ── Run ──▶ apisim, faults ──┴──▶ informer
//
// A scenario is a txtar file. The language has a dozen verbs; README.md beside the
// files tells them all. Everything happens in the virtual time of a synctest
// bubble, so an hour's outage costs nothing.
//
// # Promises
//
//   - N1. A file is read completely before anything runs. What is wrong in it is
//     an error that names the file and the line.
//   - N2. After the script all faults end, and the informer has 20 minutes to
//     come to rest. Every scenario thereby checks I14, and all the other
//     invariants of package invariant on its way.
//   - N3. An expectation that isn't met is an error that names its line, what was
//     expected and what is.
package scenario
