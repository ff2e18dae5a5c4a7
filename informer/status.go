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
	// It has been put right. See WithVerification. Only the InOrder queue counts,
	// and not over a set of namespaces.
	Drift    uint64
	Filtered uint64 // received objects that didn't pass Options.Keep
	Handlers []HandlerStatus

	// Namespaces has an entry for each namespace, in order, if the informer is
	// over a set of them. The reflector's part above is then a summary: the
	// phase of the one that is worst off, the lowest ResourceVersion, the
	// earliest LastHeard and FreshAt, one of the errors, and sums of the counts.
	Namespaces []NamespaceStatus
}

// NamespaceStatus is how far one namespace of several has come.
type NamespaceStatus struct {
	Namespace string
	Synced    bool
	// Err is why nothing more comes from the namespace, until it is removed
	// and added again: the reflector was set to fail fast, or a function of the
	// user ended its goroutine. Nil while it works, if with errors.
	Err error

	reflector.Status
	QueueDepth int
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
	fmt.Fprintf(&b, "%s: not synced: %v", e.Status.Name, e.Err)
	if len(e.Status.Namespaces) == 0 {
		describe(&b, e.Status.Status)
		return b.String()
	}
	missing := 0
	for _, ns := range e.Status.Namespaces {
		switch {
		case ns.Synced:
			continue
		case missing == maxNamed:
			b.WriteString("; and others")
			return b.String()
		}
		missing++
		fmt.Fprintf(&b, "; namespace %s", ns.Namespace)
		describe(&b, ns.Status)
	}
	return b.String()
}

// maxNamed is how many namespaces an error names.
const maxNamed = 10

// describe says what a reflector is doing instead of having synced.
func describe(b *strings.Builder, st reflector.Status) {
	fmt.Fprintf(b, "; phase %s", st.Phase)
	if !st.Since.IsZero() {
		fmt.Fprintf(b, " since %s", st.Since.Format("15:04:05"))
	}
	if st.Attempts > 0 {
		fmt.Fprintf(b, ", %d failed attempts since %s", st.Attempts, st.FailingSince.Format("15:04:05"))
	}
	switch {
	case st.LastError != nil:
		fmt.Fprintf(b, ", last error: %v", st.LastError)
	case st.Phase == reflector.Idle:
		b.WriteString("; was Run (or Factory.Start) called?")
	}
}

// Unwrap returns the cause and, so that apierrors.IsForbidden and the like
// find them, the last errors of the server.
func (e *NotSyncedError) Unwrap() []error {
	errs := []error{e.Err}
	if len(e.Status.Namespaces) == 0 {
		if e.Status.LastError != nil {
			errs = append(errs, e.Status.LastError)
		}
		return errs
	}
	for _, ns := range e.Status.Namespaces {
		if !ns.Synced && ns.LastError != nil {
			errs = append(errs, ns.LastError)
		}
	}
	return errs
}
