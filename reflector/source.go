package reflector

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// Source is where lists and watches come from. [HTTPSource] is the real one;
// tests and pollers bring or use their own.
//
// A Source is safe for use by several goroutines. Its errors say what failed
// in a way that [k8s.io/apimachinery/pkg/api/errors] understands.
type Source[T metav1.Object] interface {
	// List fetches one page and calls yield with each item as it comes off
	// the wire. What it yields is provisional until List returns nil: a cut
	// or mangled answer is an error, after some items or none. An error from
	// yield ends the list and is returned as it is.
	List(ctx context.Context, opts ListOptions, yield func(object.Item[T]) error) (ListMeta, error)

	// Watch opens a stream of changes. It returns as soon as the server has
	// accepted the watch, before any event. The stream lives no longer than
	// ctx, and must be closed.
	Watch(ctx context.Context, opts WatchOptions) (Stream[T], error)
}

// ListOptions asks for one page of a list.
type ListOptions struct {
	// ResourceVersion is "" for the most recent state, "0" for whatever the
	// server has at hand, or a version. With Continue it must be "".
	ResourceVersion string
	// ResourceVersionMatch must be set whenever ResourceVersion is: without
	// it a server takes a version together with a limit for an exact one.
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit is the most items to return; 0 asks for all. Servers may ignore it.
	Limit int64
	// Continue is the token of the page before.
	Continue string
}

// ListMeta is what a page says about the list as a whole.
type ListMeta struct {
	// ResourceVersion is the version that the list stands for, as the server
	// sent it: it may be unusable.
	ResourceVersion string
	// Continue is the token for the next page. Only an empty one means that
	// the list is complete: a page may be empty and yet not the last.
	Continue string
	// RemainingItemCount is how many items follow this page, 0 if not told.
	RemainingItemCount int64
	// Quarantined lists the objects of this page that exist but couldn't be
	// decoded or transformed. They are not among the yielded items, and must
	// not be taken for deleted.
	Quarantined []Quarantine
	// Reused is how many of the yielded items were not decoded, since they
	// are stored already: see [Reuser].
	Reused int
}

// Quarantine is one object that exists on the server but can't be used here.
type Quarantine struct {
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	Err             error // what went wrong: decoding, or the transform
}

// WatchOptions asks for a stream of changes. Bookmarks are always asked for.
type WatchOptions struct {
	// ResourceVersion is the point after which changes are wanted.
	ResourceVersion string
	// SendInitialEvents asks for the present state as Added events, ended by
	// a Bookmark with InitialEventsEnd, before the changes (a watch-list).
	SendInitialEvents bool
	// Timeout is how long the server keeps the stream open (timeoutSeconds);
	// 0 leaves that to the server.
	Timeout time.Duration
}

// Stream is one open watch. Next is called by one goroutine at a time; Close
// may be called by any, at any time, more than once.
type Stream[T metav1.Object] interface {
	// Next blocks for the next event. It returns [io.EOF] when the server has
	// ended the stream cleanly. Any other error ends the stream too: the
	// error that the server sent as an event, a broken connection
	// ([io.ErrUnexpectedEOF] inside a frame), a frame that can't be decoded
	// ([*DecodeError]). After an error Next returns it again.
	Next() (Event[T], error)
	// Close ends the stream and makes a blocked Next return an error.
	Close() error
}

// EventType says what happened to an object.
type EventType uint8

// The event types of a watch. What the server sends as an ERROR event comes
// out of [Stream].Next as an error.
const (
	Added EventType = iota + 1
	Modified
	Deleted
	// Bookmark has no object: everything up to its resourceVersion has been
	// delivered.
	Bookmark
)

// String returns the word used on the wire, such as "ADDED".
func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	case Bookmark:
		return "BOOKMARK"
	}
	return fmt.Sprintf("EventType(%d)", uint8(t))
}

// Event is one change.
//
// A Deleted event carries the last state that matched, with the version of the
// deletion beside it; the object may still live, when it only ceased to match
// the selectors.
type Event[T metav1.Object] struct {
	Type EventType
	// Item is the object. A Bookmark sets only its ResourceVersion.
	Item object.Item[T]
	// InitialEventsEnd is true for the Bookmark that ends the initial events
	// of a watch-list.
	InitialEventsEnd bool
	// Quarantined is why the object couldn't be decoded or transformed. Item
	// then has no Object, but all the rest. A Deleted event is to be applied
	// all the same.
	Quarantined error
	// Reused says that Item is the stored one: see [Reuser]. Only initial
	// events can be.
	Reused bool
}
