// Package soak runs informers for a long time on a real API server that is killed
// and compacted, through a proxy that breaks what passes. It holds tests only.
//
//	churn ──▶ kube-apiserver, killed three times ◀── fault proxy ◀── informers
//	                │                                                    │
//	          etcd, compacted                                            │
//	                └──────────── the server's own list ═════════════════╛ at the end
//
// It lasts 45 seconds with 2,000 pods by default; five minutes with 20,000 pods are
//
//	go test ./soak -v -soak=5m -pods=20000
//
// What it holds the stack to:
//
//   - Q1: At the end every cache equals the server's own list, object for object.
//   - Q2: Each event is a legal step from what the handler was told before, and all
//     of them add up to the cache.
//   - Q3: A cache's version never goes back.
//   - Q4: When Run has returned, no goroutine that the informer started is left.
//
// Memory is printed, not judged.
package soak
