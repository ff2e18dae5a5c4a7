// Command informerlab shows what an informer does and what it costs.
//
//	informerlab compare    naive polling, ours and client-go side by side   compare.go ─▶ package compare
//	informerlab watch      a resource's changes as a handler is told them   watch.go ─▶ package informer
//	informerlab serve      the simulated API server alone, for curl         serve.go ─▶ package apisim
//
// Every command works without a cluster: it brings a simulated API server that
// listens on loopback only, or not at all.
//
// # Promises
//
//   - L1 Exit codes: 0 done; 1 it failed; 2 the command line is wrong; 130
//     ended by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
//   - L2 An error is one line on standard error that says what failed, on what,
//     and what to do. No stack, no Go type.
//   - L3 Results go to standard output, everything else to standard error.
//   - L4 After Ctrl-C everything ends within a second, child processes included.
//   - L5 What "watch --dump" writes is written however the command ends, unless
//     the process is killed outright.
//
// # Not promised
//
// The text output is for people and may change. Programs read -o json and
// --json, whose fields only grow.
package main
