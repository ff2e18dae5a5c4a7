package informer

import (
	"errors"
	"fmt"
	"strings"

	"informer.example/reflector"
)

var (
	// ErrAlreadyRun: Run was called twice. An informer runs once.
	ErrAlreadyRun = errors.New("informer: Run was called before; an informer runs once, make a new one")
	// ErrStopped: the informer's Run has returned, or is about to.
	ErrStopped = errors.New("informer: stopped")
	// ErrCutShort: a transform, key or index function called runtime.Goexit
	// (t.FailNow does), or panicked below a recover, and took a goroutine of the
	// informer with it.
	ErrCutShort = errors.New("informer: a transform, key or index function ended the informer's goroutine (runtime.Goexit, or a panic); it must return")
	// ErrHandlerRemoved: the handler was taken off its informer.
	ErrHandlerRemoved = errors.New("informer: the handler was removed")
	// ErrHandlerExited: a call of the handler ended its goroutine
	// (runtime.Goexit; t.FailNow does) instead of returning.
	ErrHandlerExited = errors.New("informer: the handler ended its goroutine (runtime.Goexit) instead of returning, and is told no more")
	// ErrNotRegistered: the registration isn't one of this informer's, or was removed.
	ErrNotRegistered = errors.New("informer: no such handler registration; was it removed before, or does it belong to another informer?")
)

// Status is what an informer is doing and how far it has come.
type Status struct {
	// The reflector's part: phase, last error, attempts, counts of requests.
	reflector.Status

	Name       string
	Synced     bool // the first list has been applied
	Objects    int  // in the store
	QueueDepth int  // deltas received and not yet applied
	// StoreVersion is the resourceVersion that the store stands for. It
	// trails Status.ResourceVersion by what is in the queue.
	StoreVersion string
	IndexErrors  uint64 // calls of index functions that failed
	Stale        uint64 // received objects that were not newer than the stored ones
	// Drift counts the objects that a list showed otherwise than the store
	// although both stand for the same resourceVersion: what no event told of.
	// It has been put right. See WithVerification. Only the InOrder queue counts.
	Drift    uint64
	Handlers []HandlerStatus
}

// NotSyncedError says why an informer has not synced. It wraps the cause (the
// context's error, [ErrStopped], or the error that ended Run) and the last
// error that the server answered with.
type NotSyncedError struct {
	Status Status
	Err    error
}

func (e *NotSyncedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: not synced: %v; phase %s", e.Status.Name, e.Err, e.Status.Phase)
	if !e.Status.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", e.Status.Since.Format("15:04:05"))
	}
	if e.Status.Attempts > 0 {
		fmt.Fprintf(&b, ", %d failed attempts since %s", e.Status.Attempts, e.Status.FailingSince.Format("15:04:05"))
	}
	switch {
	case e.Status.LastError != nil:
		fmt.Fprintf(&b, ", last error: %v", e.Status.LastError)
	case e.Status.Phase == reflector.Idle:
		b.WriteString("; was Run (or Factory.Start) called?")
	}
	return b.String()
}

// Unwrap returns the cause and, so that apierrors.IsForbidden and the like
// find it, the last error of the server.
func (e *NotSyncedError) Unwrap() []error {
	if e.Status.LastError == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Status.LastError}
}
