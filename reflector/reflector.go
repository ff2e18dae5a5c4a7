package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reflector keeps a [Sink] at the state of a [Source].
type Reflector[T metav1.Object] struct {
}

// New makes a reflector. It does nothing before Run.
func New[T metav1.Object](src Source[T], sink Sink[T], opts Options) *Reflector[T] {
	return &Reflector[T]{}
}

// Run lists and watches until ctx ends, and returns nil then. It returns an
// error when it was called before, when the sink failed, or, with FailFast,
// when the server refuses the resource.
func (r *Reflector[T]) Run(ctx context.Context) error { panic("unwritten") }

// Status returns a copy of the present status. It may be called at any time,
// by any goroutine.
func (r *Reflector[T]) Status() Status { return Status{} }
