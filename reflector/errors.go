package reflector

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Error is a list or watch that failed: what, on what, and what to do. It
// never holds credentials. When the server answered with an error, it wraps an
// [*apierrors.StatusError], so that [apierrors.IsForbidden] and its like work.
type Error struct {
	Op        string // "list" or "watch"
	Resource  schema.GroupVersionResource
	Namespace string // "" for all

	// What the server said, if it said anything.
	Code       int
	Reason     metav1.StatusReason
	Message    string
	RetryAfter time.Duration

	Err error // the cause
}

// Error says what failed, on what, and what to do.
func (e *Error) Error() string {
	what := e.Op + " " + e.Resource.GroupResource().String()
	if e.Namespace != "" {
		what += " in namespace " + e.Namespace
	}
	cause := e.Message
	if cause == "" && e.Err != nil {
		cause = printable(e.Err.Error())
	}
	if e.Code != 0 {
		cause = fmt.Sprintf("%d %s: %s", e.Code, http.StatusText(e.Code), cause)
	}
	if advice := e.advice(); advice != "" {
		return what + ": " + cause + "; " + advice
	}
	return what + ": " + cause
}

// advice says what to do about it, where that is known.
func (e *Error) advice() string {
	switch e.Code {
	case http.StatusUnauthorized:
		return "the credentials are missing, wrong or expired"
	case http.StatusForbidden:
		group := e.Resource.Group
		if group == "" {
			group = `"" (core)`
		}
		return fmt.Sprintf("RBAC must allow the verb %q on resource %q in API group %s", e.Op, e.Resource.Resource, group)
	case http.StatusNotFound:
		return fmt.Sprintf("the server doesn't serve %s in %s: check the resource, group and version, or whether its CRD is installed",
			e.Resource.Resource, e.Resource.GroupVersion())
	case http.StatusMethodNotAllowed:
		if e.Op == opWatch {
			return "the resource can't be watched, only polled, which Options.PollInterval (informer.WithPolling) allows"
		}
		return fmt.Sprintf("the resource doesn't support %s", e.Op)
	case http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return "ask for another encoding"
	}
	return ""
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// DecodeError says that an answer of the server can't be understood. It is
// about the bytes: a broken connection is not a DecodeError.
type DecodeError struct {
	What string // what was being read, such as "list item 12"
	Err  error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("can't read %s: %s", e.What, printable(e.Err.Error()))
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// SizeError says that something is larger than its cap. It comes inside a
// [*DecodeError].
type SizeError struct {
	Limit  int
	Option string // the option that sets the cap, if one does
}

func (e *SizeError) Error() string {
	if e.Option == "" {
		return fmt.Sprintf("larger than %d bytes", e.Limit)
	}
	return fmt.Sprintf("larger than %d bytes; raise %s if that is legitimate", e.Limit, e.Option)
}

// VersionError says that a list came without a resourceVersion to watch from.
type VersionError struct {
	ResourceVersion string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the list has resourceVersion %.40q, which nothing can be watched from; it can only be polled, which Options.PollInterval (informer.WithPolling) allows", e.ResourceVersion)
}

// errSilent is why an answer was given up on that took longer than its time.
var errSilent = errors.New("the server has let its time pass in silence: the connection is taken for dead")

var (
	errLoop  = errors.New("the server's continue tokens lead back to a page that was fetched already")
	errEmpty = errors.New("the server ended the watch at once, without an event")

	errUnmarked = errors.New("the server ended the watch-list before the state was complete")
	errForeign  = errors.New("the server sent a change before the watch-list's state was complete")
)

// err is what a fault is called; rv is the version at hand.
func (f fault) err(rv string) error {
	switch f {
	case faultNoVersion:
		return &VersionError{ResourceVersion: rv}
	case faultLoop:
		return errLoop
	case faultEmpty:
		return errEmpty
	case faultUnmarked:
		return errUnmarked
	case faultForeign:
		return errForeign
	case faultUnplaced:
		return &DecodeError{What: "a watch event", Err: fmt.Errorf("its resourceVersion is %.40q", rv)}
	}
	return nil
}

// reasonOf is what tells one kind of trouble from another in the log.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return fmt.Sprint(e.Op, e.Code, e.Reason)
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return ""
}
