package indexer

import (
	"errors"
	"fmt"
	"strings"

	"informer.example/object"
)

// IndexError says that an index function failed for an object. The object is
// stored, and is in every other index; it is not in this one until a version
// is stored for which the function succeeds.
type IndexError struct {
	Index string
	Key   object.Key
	Err   error // what the function returned, or a [*PanicError]
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %q: the index function failed for %s, which is stored but not in this index: %v", e.Index, e.Key, e.Err)
}

func (e *IndexError) Unwrap() error { return e.Err }

// IndexErrors is the error of a call that did all of its work, except that
// some objects are left out of some indexes. It is never empty.
type IndexErrors []*IndexError

func (e IndexErrors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", e[0], len(e)-1)
}

func (e IndexErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

func indexErrors(errs []*IndexError) error {
	if len(errs) == 0 {
		return nil
	}
	return IndexErrors(errs)
}

// PanicError carries what an index function panicked with.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

var errNilFunc = errors.New("the index function is nil")

// UnknownIndexError says that no index has this name.
type UnknownIndexError struct {
	Name  string
	Known []string // in order
}

func (e *UnknownIndexError) Error() string {
	known := "there are no indexes"
	if len(e.Known) > 0 {
		known = "there are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("index %q doesn't exist; %s", e.Name, known)
}

// AddIndexersError says why [Indexer.AddIndexers] added nothing.
type AddIndexersError struct {
	Name   string // the first index at fault
	Reason string
}

func (e *AddIndexersError) Error() string {
	return fmt.Sprintf("add index %q: %s; no index was added", e.Name, e.Reason)
}
