// Package pipeline runs the informer stack, the example programs and informerlab
// on a real API server. It holds tests only.
//
//	writer ──▶ kube-apiserver ◀── gate ◀── subject: informer of T ──▶ handler
//	                │                          │                         │
//	                └── the server's own list ═╧═ final cache    known ══╛ told
//
// A fleet is an informer for each resource, Go type, encoding and queue: pods as
// protobuf and as JSON, a custom resource as Unstructured and as a struct of the
// user's own, each on the in-order queue and on DeltaFIFO. All of a fleet sees the
// same writes. A gate cuts its connections and refuses new ones, so history can be
// lost meanwhile.
//
// What the tests hold the stack to:
//
//   - P1: In the end the cache equals the server's own list, object for object.
//   - P2: Each event is a legal step from what the handler was told before, and
//     replaying all of them gives the cache.
//   - P3: While a watch is up, each write is told once.
//   - P4: History lost to etcd compaction costs one list. Its differences are told,
//     and nothing else.
//   - P5: The watch outlives a restart of the API server; no write is lost.
//   - P6: When Run has returned and idle connections are closed, no goroutine that
//     the informer started is left.
//   - P7: The programs of the main module work on a real server as documented.
package pipeline
