// Package apitest holds an API server against the list and watch contract that
// informers rely on. It is one suite for two servers: the simulator of this
// module and a real kube-apiserver.
//
//	Suite.Each ──▶ Server{Config, Compact, Restart, …}
//	                  │
//	   clause ── plain HTTP requests ──▶ answer, stream ── compared with the rule
//
// A clause is a subtest named by its id, K5_ListMatrix for clause 5; the table
// in docs/contract.md says what each id stands for. K is for lists and watches, E for
// encodings and HTTP, S for sharding and selectors.
//
// What it promises:
//
//   - T1: A clause sends requests and reads answers, no more. It uses no code of the
//     servers and none of the informers.
//   - T2: A clause writes only in namespaces of its own, so that clauses can run at the
//     same time on a shared server. The ones that disturb others run alone.
//   - T3: What a server can't show is skipped with the reason, and the suite fails
//     unless exactly the skips that it was told of happened.
//   - T4: Where a server has a choice, each legal answer passes.
//
// Clauses about what only a faulty server or network does (K8, K24, E6, E8) are
// not here: they are among the faults.
package apitest
