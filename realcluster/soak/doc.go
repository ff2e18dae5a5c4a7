// Package soak runs informers for a long time on a real API server that is killed
// and compacted, through a proxy that breaks what passes. It holds tests only.
//
//	churn ──▶ kube-apiserver, killed three times ◀── fault proxy ◀── informers ──▶ invariant.Checker
//	                │                                                    ║               ▲
//	          etcd, compacted ───────────────── history ─────────────────╫───────────────┘
//	                └──────────── the server's own list ═════════════════╝ at the end
//
// It lasts 45 seconds with 2,000 pods by default; five minutes with 20,000 pods are
//
//	go test ./soak -v -soak=5m -pods=20000
//
// The informers get their state as lists and as watch-lists; as JSON, as protobuf
// and as metadata alone; as pods, Unstructured and a struct of the user's own.
// Each has a checker of compare/invariant, which sees its requests, their answers,
// what its handler is told and, several times a second, its store. What the server
// had at each version is read from etcd itself.
//
// What it holds the stack to:
//
//   - Q1: At the end every cache equals the server's own list, object for object.
//   - Q2: The invariants I1 to I11, I13 and I14 hold all the time: among them that
//     each look finds a store that is exactly what etcd had at the store's version.
//   - Q3: Each informer got its state in the way that it was told to.
//   - Q4: When Run has returned, no goroutine that the informer started is left.
//
// Memory is printed, not judged.
package soak
