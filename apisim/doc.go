// Package apisim is a small Kubernetes API server that lives in one process:
// the list and watch semantics of the real one, over HTTP or in memory, with no
// etcd, no users and no admission. It exists to teach, test and measure
// informers, and is therefore exact where a client can tell, and cheap.
//
//	 direct verbs      HTTP requests ── fault ── route
//	(Create, Delete)    │write          │list         │watch
//	      │             │               │             │
//	      └─► admit ◄───┘             scan        read the log,
//	            │                       │         wait, repeat
//	            ▼ commit                ▼             ▼
//	   cache: how far this server has heard of it, and since when
//	            │
//	   store: one counter; for each resource the entries in key order,
//	          each with its versions, and the log of the last writes
//	            │
//	            ▼
//	   body: an object and its encodings, each made once, shared by all
//
// A Cluster is one store with several servers, as one etcd and its API servers.
//
// # Promises
//
// Store:
//
//   - S1. One counter numbers the revisions of all resources. It starts at 100
//     and grows by one with each revision. A revision is one write, or the
//     deletions of one DeleteTogether.
//   - S2. An update that changes nothing writes nothing: no RV, no event.
//   - S3. A write with a resourceVersion succeeds only on that version.
//   - S4. A key that is deleted and created again gets another UID.
//   - S5. Objects are listed in byte order of "namespace/name": a-b/x comes
//     before a/x.
//   - S6. uid, creationTimestamp, deletionTimestamp, generation and
//     resourceVersion are the server's. Over HTTP, so is the division between an
//     object and its /status. Finalizers hold a deleted object.
//   - S7. The last n writes of each resource stay readable (WithHistory); what
//     is older is forgotten, and reported as 410.
//
// Cluster:
//
//   - C1. All servers of a cluster show one history under one counter. Writes
//     through any of them go to the store.
//   - C2. A server shows what it has heard of, which SetLag holds back. It never
//     shows less than before, and is never behind the history. A resource
//     without a watch cache (events) is read from the store.
//   - C3. Restart ends the server's watches. Until it is ready it refuses, with
//     429 and a Retry-After from 1 to 30, what needs the cache: lists but for
//     unfiltered pages, and watches. Then no watch can start below the state
//     that it found.
//   - C4. Compact takes exact states and continue tokens away, and leaves the
//     watch windows. Each resource has a window of its own (WithWatchWindow).
//   - C5. Rollback restores an old state and its counter. A watch above the
//     counter is silent until the counter has passed it.
//
// List:
//
//   - L1. resourceVersion "" shows the newest state: a server that lags has 3
//     seconds to get there, then the store is read. "0" shows what the server has
//     heard of. N shows the same, not below N, unless it is exact: then the list
//     shows the state at N.
//   - L2. N is exact with resourceVersionMatch=Exact, and with a limit and no
//     match. An N that the server has not heard of is waited for, 3 seconds; then
//     504 with cause ResourceVersionTooLarge and Retry-After 1. A resource without
//     a cache gets the 504 at once and without Retry-After.
//   - L3. limit is ignored with resourceVersion "0". All pages of a list show
//     the RV of the first. A token out of the window gets 410 with a token that
//     continues in the newest state.
//   - L4. A watch from the list's RV neither misses nor repeats a write.
//   - L5. The real server's rules on combinations of parameters hold: 422 and 400.
//
// Watch:
//
//   - W1. A watch from N gets each write above N once, in order of RV, and
//     nothing else but bookmarks. An N out of the window gets one ERROR 410.
//   - W2. With sendInitialEvents it gets the state first, as ADDED. If it takes
//     bookmarks, one with the annotation k8s.io/initial-events-end ends the state.
//     "" and "0" ask for the same implicitly.
//   - W3. A bookmark says that everything up to its RV was sent. It comes once a
//     minute (WithBookmarkInterval) and 2 seconds before the deadline, if the RV
//     is above the one that the watch started from.
//   - W4. An object that enters the selector is ADDED, one that leaves it is
//     DELETED, with its content from before and the RV of the write.
//   - W5. timeoutSeconds is exact. Any end but an ERROR is a clean one: the client
//     has a prefix without gaps.
//   - W6. A client that blocks a write for 100 ms and is then behind by more
//     than 1000 writes (WithWatchBuffer), or by more than the history, is ended. A
//     slow client costs no memory.
//
// Shards:
//
//   - H1. With WithSharding, shardSelector limits a list or a watch to the objects
//     whose uid or namespace hashes into its ranges. A list of a built-in type
//     echoes it in metadata.shardInfo, other lists do not. One that cannot be read
//     is a 500. Without WithSharding it is ignored.
//
// Kubectl:
//
//   - T1. A list, get or watch that asks for a Table (JSON, meta.k8s.io/v1) gets
//     one: NAME READY STATUS RESTARTS AGE and more for pods, NAME AGE for the
//     rest. includeObject says what of the object comes with a row. Only the
//     first event of a watch has the columns.
//   - T2. /openapi/v3 says that writes check fields, without schemas. With
//     fieldValidation=Strict an unknown or repeated field of a built-in resource
//     is a 400; otherwise it is dropped, without a warning.
//
// Wire:
//
//   - E1. For answers, each version of an object is encoded at most once for
//     each encoding.
//   - E2. JSON and protobuf for built-in resources, JSON for custom ones,
//     PartialObjectMetadata in both for all. A custom resource's list has its
//     metadata behind its items.
//   - E3. Lists above 128 KiB are compressed if the client accepts gzip, and so
//     are watches that begin with the state: one gzip member for each flush.
//   - E4. Nothing a client sends makes the server panic; bodies are capped at 3 MiB.
//   - E5. ServeTLS speaks HTTP/2 with at most 100 streams on a connection, and
//     HTTP/1.1; Serve speaks HTTP/1.1, and HTTP/2 without TLS to who asks.
//
// # Not promised
//
// No users, admission, quota, defaults, managedFields, owner garbage collection
// or graceful deletion; a namespace need not exist. No server-side apply, dry
// run, schemas, YAML output, CBOR or WebSockets. No conversion
// between versions. Events do not expire.
package apisim
