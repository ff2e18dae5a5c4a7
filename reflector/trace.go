package reflector

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// Trace is a set of hooks for what passes between server and sink, in the
// manner of [net/http/httptrace]. Any of them may be nil, and costs nothing
// then.
//
// For one request they are called in the order of the fields, by the goroutine
// that made the request (Run's), with no lock held; Received and Decoded come
// in pairs, one for each object. They hold up the reading, so they must return
// soon. A Trace must not be changed once it is in use, and may serve several
// sources at once.
//
// [HTTPSource] finds its Trace in the context of List and Watch, where
// Options.Trace puts it; a source of another kind may do the same with
// [ContextTrace].
type Trace struct {
	// RequestBegun: a request is about to be sent.
	RequestBegun func(*RequestInfo)
	// RequestAnswered: the answer's header has come, or it won't.
	RequestAnswered func(AnswerInfo)
	// Received: the bytes of one object have come.
	Received func(ReceivedInfo)
	// Decoded: they were decoded and transformed, found to be stored already,
	// or found to be unusable. When the bytes make no sense at all, RequestEnded
	// comes instead, with the error.
	Decoded func(DecodedInfo)
	// RequestEnded: the answer is over. It comes once for each RequestAnswered
	// without an error; by the goroutine that calls [Stream].Close, if that ends
	// the stream.
	RequestEnded func(EndInfo)
}

// RequestInfo is one request. It is shared by all hooks that are about it, and
// doesn't change. It holds no credential and no URL.
type RequestInfo struct {
	Op        string // "list", which asks for one page, or "watch"
	Resource  schema.GroupVersionResource
	Namespace string // "": all
	// What is asked for: see [ListOptions] and [WatchOptions].
	ResourceVersion   string
	Continued         bool // a page after the first
	SendInitialEvents bool // a watch-list
	Accept            string
	At                time.Time
}

// AnswerInfo is how a request was answered.
type AnswerInfo struct {
	Request     *RequestInfo
	Code        int // HTTP; 0 without an answer
	ContentType string
	Took        time.Duration // since RequestInfo.At
	// Connect is how long it took to get a connection, and NewConnection whether
	// one had to be made: zero if the transport doesn't say.
	Connect       time.Duration
	NewConnection bool
	Err           error // nil for an answer that will be read
}

// ReceivedInfo is one object on the wire.
type ReceivedInfo struct {
	Request *RequestInfo
	Event   EventType // 0: an item of a list
	Bytes   int
	At      time.Time
}

// DecodedInfo is one object, or bookmark, off the wire.
type DecodedInfo struct {
	Request         *RequestInfo
	Event           EventType // 0: an item of a list
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	Bytes           int
	Received        time.Time
	Took            time.Duration // since then
	Reused          bool          // it is stored in this version, and was not decoded: see [Reuser]
	Err             error         // why it can't be used (see [Quarantine])
}

// EndInfo is how an answer ended.
type EndInfo struct {
	Request *RequestInfo
	Bytes   int64 // of the body, as far as it was read, after decompression
	Objects int   // received, bookmarks among them
	Took    time.Duration
	// Err is nil when the answer was complete, or the server ended the watch in
	// good order; [context.Canceled] when the reader closed the stream.
	Err error
}

type traceKey struct{}

// WithTrace returns a context under which List and Watch of a [HTTPSource] call
// the hooks.
func WithTrace(ctx context.Context, trace *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// ContextTrace returns the Trace of a context, nil if it has none.
func ContextTrace(ctx context.Context) *Trace {
	trace, _ := ctx.Value(traceKey{}).(*Trace)
	return trace
}
