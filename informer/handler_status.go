package informer

import (
	"fmt"
	"strings"
	"time"

	"informer.example/object"
)

// HandlerStatus is how far one handler has come.
type HandlerStatus struct {
	Name      string
	Delivery  Delivery
	Synced    bool
	Delivered uint64 // calls that returned, or panicked

	// Lag is how many events wait for it, the one that it is being told
	// included. A new list counts as one. For a [Latest] handler, what it has
	// coalesced counts once for each key.
	Lag uint64
	// Oldest is for how long the oldest of what it hasn't been told has waited;
	// 0 when nothing waits.
	Oldest time.Duration
	// Detached: it joined just now or fell behind, and is or will be told the
	// difference of two states.
	Detached   bool
	FellBehind uint64 // times that it had more than MaxLag events waiting

	LastCall   time.Duration // how long its last call took
	Running    time.Duration // for how long its present call runs; 0: none
	RunningKey object.Key    // and about which object
	SlowCalls  uint64        // calls that were reported (see [WithSlowCall])

	Panics    uint64        // calls that panicked and were isolated
	LastPanic *HandlerPanic // nil: none

	ReplaysDropped uint64 // objects that a resync left out, since changes went first

	Err error // why it is no longer registered; nil while it is
}

// HandlerNotSyncedError says why a handler has not synced. It wraps the cause:
// the context's error, [ErrHandlerRemoved], [ErrHandlerExited] or [ErrStopped].
type HandlerNotSyncedError struct {
	Status HandlerStatus
	Err    error
}

func (e *HandlerNotSyncedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "handler %s: not synced: %v; %d calls returned", e.Status.Name, e.Err, e.Status.Delivered)
	if e.Status.Running > 0 {
		fmt.Fprintf(&b, ", the one about %s has been running for %v", e.Status.RunningKey, e.Status.Running.Round(time.Millisecond))
	}
	return b.String()
}

func (e *HandlerNotSyncedError) Unwrap() error { return e.Err }
