package reflector

import "fmt"

// DecodeError says that an answer of the server can't be understood. It is
// about the bytes: a broken connection is not a DecodeError.
type DecodeError struct {
	What string // what was being read, such as "list item 12"
	Err  error
}

func (e *DecodeError) Error() string { return fmt.Sprintf("can't read %s: %v", e.What, e.Err) }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }
