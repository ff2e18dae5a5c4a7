package deltafifo

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// DeltaType says what happened. The zero value is none of them.
type DeltaType uint8

const (
	// Added, Updated and Deleted are what a watch reports. Neither queue checks
	// them against a store: an Added may meet an object that is already stored.
	Added DeltaType = iota + 1
	Updated
	Deleted
	// Replaced is one item of a list. Whether it changed isn't known. Only
	// DeltaFIFO makes it.
	Replaced
	// Sync asks for a stored object to be processed once more. Only DeltaFIFO
	// makes it.
	Sync
	// ReplacedAll is a whole list; the consumer works out what it changes.
	// Only InOrder makes it.
	ReplacedAll
	// SyncAll asks for every stored object to be processed once more. Only
	// InOrder makes it.
	SyncAll
	// Bookmark says how far the server's history has been handed over, without
	// a change to any object.
	Bookmark
)

var deltaTypeNames = [...]string{"", "Added", "Updated", "Deleted", "Replaced", "Sync", "ReplacedAll", "SyncAll", "Bookmark"}

func (t DeltaType) String() string {
	if t == 0 || int(t) >= len(deltaTypeNames) {
		return fmt.Sprintf("DeltaType(%d)", uint8(t))
	}
	return deltaTypeNames[t]
}

// Delta is one change.
type Delta[T metav1.Object] struct {
	Type DeltaType

	// FinalStateUnknown marks a tombstone: a Deleted that was worked out from a
	// list which lacks the object, not seen on a watch. Item is then the last
	// state known, with the resourceVersion of that state; Item.Object may be
	// the zero T.
	FinalStateUnknown bool

	// Initial says that the delta comes from the first Replace: the state that
	// the server was found in, not a change to it.
	Initial bool

	// Item is the object. ReplacedAll and SyncAll have none; a Bookmark has
	// the ResourceVersion only.
	Item object.Item[T]

	// List is set for ReplacedAll only.
	List *List[T]
}

// Version returns the resourceVersion that a store stands for once this delta
// and all that were handed over before it are applied, or "" if the delta says
// nothing about that. What a batch stands for is the last Version in it that
// isn't empty (Q6).
func (d Delta[T]) Version() string {
	switch d.Type {
	case Added, Updated, Bookmark:
		return d.Item.ResourceVersion
	case Deleted:
		if !d.FinalStateUnknown {
			return d.Item.ResourceVersion
		}
	case ReplacedAll:
		return d.List.ResourceVersion
	}
	return ""
}

// List is the whole state of a resource at one resourceVersion.
type List[T metav1.Object] struct {
	Items []object.Item[T]
	// Keep holds the keys of objects that the server has but that couldn't be
	// read. They are neither set nor deleted: what is stored under them stays.
	Keep            []object.Key
	ResourceVersion string
}

// Deltas are the changes to one object, oldest first.
type Deltas[T metav1.Object] []Delta[T]

// Oldest returns the first delta, or nil if there is none.
func (d Deltas[T]) Oldest() *Delta[T] {
	if len(d) == 0 {
		return nil
	}
	return &d[0]
}

// Newest returns the last delta, or nil if there is none.
func (d Deltas[T]) Newest() *Delta[T] {
	if len(d) == 0 {
		return nil
	}
	return &d[len(d)-1]
}
