// Package store measures what a store costs: ours beside a map behind a lock,
// client-go's store and an immutable radix tree, on the same 50,000 keys. It
// holds nothing but tests:
//
//	go test ./compare/store -bench . -run '^$'
//
// All stores hold pods by key, and no index, except where an index is what is
// measured. "ours" takes no snapshots while it writes; "ours, snapshots" takes
// one before each batch and holds it until the next, so that everything it
// touches must be copied. The times of one run are to be compared with each
// other, not with those of another machine.
package store
