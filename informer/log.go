package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
)

// segment is what one commit tells the handlers: a list of changes or, for a
// relist, the two states whose difference is to be told. Segments form the
// event log: a linked list that each handler walks at its own pace. Nothing
// points backwards, so what every handler has passed is garbage.
//
// All but next is immutable once published.
type segment[T metav1.Object] struct {
	seq    uint64 // the commit's sequence number
	source Source

	changes       []indexer.Change[T]
	before, after *indexer.Snapshot[T] // a relist; changes is then unused

	at   time.Duration // when it was published, by the hub's clock
	end  uint64        // events logged up to and with this segment; a relist counts as one
	next *segment[T]   // guarded by hub.mu
}

// isList reports whether the segment is a list, to be told as a difference.
func (s *segment[T]) isList() bool { return s.after != nil }

// events counts the segment for the purpose of lag.
func (s *segment[T]) events() uint64 {
	if s.isList() {
		return 1
	}
	return uint64(len(s.changes))
}
