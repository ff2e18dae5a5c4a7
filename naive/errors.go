package naive

import (
	"errors"
	"fmt"
)

// ErrAlreadyRun is returned by a second call of Run.
var ErrAlreadyRun = errors.New("Run was called before: it runs once; make a new one instead")

// PollError says how far a poll came, and why no further. Nothing of it was
// used (N9).
type PollError struct {
	Page    int // the page that failed; the first is 1
	Objects int // objects received until then
	Err     error
}

func (e *PollError) Error() string {
	return fmt.Sprintf("the poll failed on page %d, after %d objects: %v; nothing was changed, and the next poll starts over", e.Page, e.Objects, e.Err)
}

// Unwrap returns the cause.
func (e *PollError) Unwrap() error { return e.Err }
