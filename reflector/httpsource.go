package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/object"
)

// Encoding is how objects are asked for.
type Encoding uint8

// The encodings. What the server answers decides how the answer is decoded.
const (
	// EncodingAuto asks for protobuf first when T has it, and for JSON otherwise.
	EncodingAuto Encoding = iota
	EncodingJSON
	EncodingProtobuf
)

// SourceOptions changes how an [HTTPSource] asks and decodes.
type SourceOptions[T metav1.Object] struct {
	Namespace     string // "" for all, or for a cluster-scoped resource
	LabelSelector string
	FieldSelector string
	Encoding      Encoding
	// KeyFunc replaces [object.KeyOf].
	KeyFunc object.KeyFunc[T]
	// Transform is called exactly once for each object received, before
	// anything else sees it. It may change the object or return another. An
	// error, or nil, quarantines the object. It may run on several goroutines.
	Transform func(T) (T, error)
	// MaxItemBytes caps one object of a list, MaxFrameBytes one watch event:
	// 16 MiB each if 0. They act while reading.
	MaxItemBytes, MaxFrameBytes int
	// New makes an empty object. It may be nil when T is a pointer to a struct.
	New func() T
}

// HTTPSource lists and watches one resource of an API server. It is a [Source].
type HTTPSource[T metav1.Object] struct {
}

// NewHTTPSource makes a source for the resource. Address, credentials, TLS and
// proxies are those of cfg; its timeout and rate limits aren't used.
func NewHTTPSource[T metav1.Object](cfg *rest.Config, gvr schema.GroupVersionResource, opts SourceOptions[T]) (*HTTPSource[T], error) {
	return &HTTPSource[T]{}, nil
}

// List implements [Source].
func (s *HTTPSource[T]) List(ctx context.Context, opts ListOptions, yield func(object.Item[T]) error) (ListMeta, error) {
	panic("unwritten")
}

// Watch implements [Source].
func (s *HTTPSource[T]) Watch(ctx context.Context, opts WatchOptions) (Stream[T], error) {
	panic("unwritten")
}
