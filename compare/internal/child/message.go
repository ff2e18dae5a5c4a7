package child

import (
	"encoding/json"
	"fmt"
)

// request is one line from parent to child.
type request struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// reply is one line from child to parent.
type reply struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *string         `json:"error,omitempty"`
}

// Error is what the called function returned, as far as a process boundary lets
// it through: its text.
type Error struct {
	Method string
	Text   string
}

func (e *Error) Error() string { return e.Text }

// ExitError says that the child ended while a call was pending.
type ExitError struct {
	Method string
	State  string // the operating system's word for how it ended
	Reason string // the telling line of its standard error; may be empty
}

func (e *ExitError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the process ended during %s: %s", e.Method, e.State)
	}
	return fmt.Sprintf("the process ended during %s: %s: %s", e.Method, e.State, e.Reason)
}
