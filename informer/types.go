package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// EventType says what happened to an object.
type EventType uint8

const (
	Added EventType = iota + 1
	Updated
	Deleted
)

func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Updated:
		return "UPDATED"
	case Deleted:
		return "DELETED"
	}
	return "UNKNOWN"
}

// Source says how the informer learned of a change.
type Source uint8

const (
	// FromList: the first list, or the replay of the store to a handler that
	// joined late.
	FromList Source = iota + 1
	// FromWatch: a live event. A handler that fell behind gets the sum of
	// several of them as one event.
	FromWatch
	// FromRelist: found by comparing a new list with the store, after the
	// watch's history was lost.
	FromRelist
	// FromResync: nothing changed; the store is replayed to a handler that
	// asked for it. Old and New are the same object.
	FromResync
	// FromScope: nothing changed on the server; the informer's set of
	// namespaces did, and the object is not in it any more.
	FromScope
)

func (s Source) String() string {
	switch s {
	case FromList:
		return "list"
	case FromWatch:
		return "watch"
	case FromRelist:
		return "relist"
	case FromResync:
		return "resync"
	case FromScope:
		return "scope"
	}
	return "unknown"
}

// DeleteReason says why an object is told as deleted.
type DeleteReason uint8

const (
	// Gone: the server says that it is not there any more. With a selector it
	// may also have stopped matching.
	Gone DeleteReason = iota
	// OutOfScope: its namespace was taken out of the informer's scope
	// ([Informer.RemoveNamespace]). On the server it may live on.
	OutOfScope
	// Filtered: it changed, and doesn't pass [Options.Keep] any more. On the
	// server it lives on.
	Filtered
)

func (r DeleteReason) String() string {
	switch r {
	case Gone:
		return "gone"
	case OutOfScope:
		return "out of scope"
	case Filtered:
		return "filtered"
	}
	return "unknown"
}

// Event is one difference between two states of the store, as a handler is
// told it. The objects are shared with the store and with every other
// handler: reading is free, changing one is a bug. Copy first (DeepCopy).
type Event[T metav1.Object] struct {
	Type   EventType
	Source Source

	// Initial marks what makes up the handler's first picture: the events up
	// to the moment when its registration has synced.
	Initial bool

	// FinalStateKnown is meant for Deleted. True: Old is the object as it was
	// when it was deleted. False: the deletion itself was missed, and Old is
	// the last state that the store saw, which may be stale.
	FinalStateKnown bool

	// Reason is why the object is told as Deleted. A handler that has fallen
	// behind, or that learns of it by a list, gets Gone for Filtered.
	Reason DeleteReason

	Key object.Key
	UID types.UID

	// ResourceVersion is that of New; for Deleted that of the deletion where
	// it is known, otherwise that of Old. OldResourceVersion is that of the
	// state that the handler was told before; empty for Added.
	ResourceVersion    string
	OldResourceVersion string

	// Old is the zero T for Added, New is the zero T for Deleted.
	Old, New T
}

// Object returns the object that the event is about: New, or Old when it was
// deleted.
func (e Event[T]) Object() T {
	if e.Type == Deleted {
		return e.Old
	}
	return e.New
}

// EventHandler is told every change, one call at a time. Its calls must
// return: a handler that blocks delays itself alone, but it also keeps
// [Informer.Run] from returning. It may call any method of the informer,
// except that waiting for its own end (ShutDownEventHandler, or Run's return)
// can't come true.
type EventHandler[T metav1.Object] interface {
	HandleEvent(Event[T])
}

// HandlerFunc is an [EventHandler] made of one function.
type HandlerFunc[T metav1.Object] func(Event[T])

// HandleEvent calls f.
func (f HandlerFunc[T]) HandleEvent(e Event[T]) { f(e) }

// HandlerFuncs is an [EventHandler] made of up to three functions, in the
// manner of client-go's ResourceEventHandlerFuncs. A nil function ignores its
// events. Whoever needs to know where an event came from, or whether it is
// part of the initial list, takes a [HandlerFunc].
type HandlerFuncs[T metav1.Object] struct {
	AddFunc    func(obj T)
	UpdateFunc func(oldObj, newObj T)
	// DeleteFunc gets the last known object, never a wrapper around it, and
	// whether that is its final state (see [Event.FinalStateKnown]).
	DeleteFunc func(obj T, finalStateKnown bool)
}

// HandleEvent calls the function for the event's type.
func (h HandlerFuncs[T]) HandleEvent(e Event[T]) {
	switch {
	case e.Type == Added && h.AddFunc != nil:
		h.AddFunc(e.New)
	case e.Type == Updated && h.UpdateFunc != nil:
		h.UpdateFunc(e.Old, e.New)
	case e.Type == Deleted && h.DeleteFunc != nil:
		h.DeleteFunc(e.Old, e.FinalStateKnown)
	}
}
