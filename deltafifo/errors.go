package deltafifo

import (
	"errors"
	"fmt"

	"informer.example/object"
)

// ErrClosed says that a queue has been closed: to a writer at once, to a
// popper when the queue is empty too.
var ErrClosed = errors.New("the queue is closed")

// FullError says that a write was given up because the queue stayed full
// until the writer's context ended: whoever pops doesn't keep up, or hangs.
type FullError struct {
	Depth, MaxDepth int
	Err             error // the context's error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the queue is full (%d deltas wait, the limit is %d): its consumer doesn't keep up: %v", e.Depth, e.MaxDepth, e.Err)
}

func (e *FullError) Unwrap() error { return e.Err }

func checkKey(key object.Key) error {
	if key.Name == "" {
		return &object.KeyError{Input: key.String(), Reason: "an item to queue has no name"}
	}
	return nil
}
