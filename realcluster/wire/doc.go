// Package wire records what a real API server sends, byte for byte.
//
//	Record ──▶ cluster ──▶ []Exchange ──Write──▶ testdata/wire/{index.json,README.md,bodies…}
//	                            │                          │
//	                            └──── Shape == Shape ◀─Read┘   (a test, on a live server)
//
// The recording is what tests and benchmarks that have no server feed to their
// decoders. `go run ./record` makes it anew.
//
// What it promises:
//
//   - W1: A body is stored as it came off the connection: still compressed if it was,
//     with all framing.
//   - W2: Objects are the same in every recording except for resourceVersions, UIDs
//     and the times that the server sets.
//   - W3: Shape erases just those, so two recordings of one server version have equal
//     shapes, and a change of the server's behaviour shows as a difference.
//   - W4: No credentials are stored. The only Authorization header is a made-up one.
//
// What it does not promise: how bytes were split into packets or HTTP/2 frames.
package wire
