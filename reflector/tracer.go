package reflector

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// tracer calls the hooks for one request. Nil is a request that nobody traces:
// all methods do nothing then.
//
// It belongs to the goroutine that made the request; only ended may be called
// by another, which closes the stream.
type tracer struct {
	hooks   *Trace
	request RequestInfo
	bytes   atomic.Int64 // of the body
	objects atomic.Int64
	over    atomic.Bool // ended was called

	// Written by the transport, which may use other goroutines.
	connected atomic.Int64 // how long it took, in ns
	fresh     atomic.Bool  // the connection was made for this request
}

// traced begins to trace a request, if its context wants it.
func (s *HTTPSource[T]) traced(ctx context.Context, op string, query url.Values, accept string) (context.Context, *tracer) {
	hooks := ContextTrace(ctx)
	if hooks == nil {
		return ctx, nil
	}
	t := &tracer{hooks: hooks, request: RequestInfo{
		Op: op, Resource: s.gvr, Namespace: s.opts.Namespace,
		ResourceVersion:   query.Get("resourceVersion"),
		Continued:         query.Has("continue"),
		SendInitialEvents: query.Has("sendInitialEvents"),
		Accept:            accept,
		At:                time.Now(),
	}}
	if hooks.RequestAnswered != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			t.connected.Store(int64(time.Since(t.request.At)))
			t.fresh.Store(!info.Reused)
		}})
	}
	if hooks.RequestBegun != nil {
		hooks.RequestBegun(&t.request)
	}
	return ctx, t
}

// answered tells of the answer's header. err is why there is none, or why the
// answer won't be read.
func (t *tracer) answered(resp *http.Response, err error) {
	if t == nil {
		return
	}
	if err != nil {
		t.over.Store(true)
	}
	if t.hooks.RequestAnswered == nil {
		return
	}
	info := AnswerInfo{
		Request: &t.request, Took: time.Since(t.request.At), Err: err,
		Connect: time.Duration(t.connected.Load()), NewConnection: t.fresh.Load(),
	}
	if resp != nil {
		info.Code, info.ContentType = resp.StatusCode, resp.Header.Get("Content-Type")
	}
	t.hooks.RequestAnswered(info)
}

// counting is the body, with its bytes counted.
func (t *tracer) counting(body io.ReadCloser) io.ReadCloser {
	if t == nil || t.hooks.RequestEnded == nil {
		return body
	}
	return &countedBody{ReadCloser: body, bytes: &t.bytes}
}

type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// received tells of an object's bytes and returns when they had come.
func (t *tracer) received(event EventType, size int) time.Time {
	if t == nil {
		return time.Time{}
	}
	t.objects.Add(1)
	now := time.Now()
	if t.hooks.Received != nil {
		t.hooks.Received(ReceivedInfo{Request: &t.request, Event: event, Bytes: size, At: now})
	}
	return now
}

// decoded tells what became of an object.
func (t *tracer) decoded(event EventType, size int, received time.Time, key object.Key, uid types.UID, rv string, reused bool, err error) {
	if t == nil || t.hooks.Decoded == nil {
		return
	}
	t.hooks.Decoded(DecodedInfo{
		Request: &t.request, Event: event, Key: key, UID: uid, ResourceVersion: rv,
		Bytes: size, Received: received, Took: time.Since(received), Reused: reused, Err: err,
	})
}

// ended tells that the answer is over, once.
func (t *tracer) ended(err error) {
	if t == nil || t.over.Swap(true) || t.hooks.RequestEnded == nil {
		return
	}
	if err == io.EOF {
		err = nil
	}
	t.hooks.RequestEnded(EndInfo{
		Request: &t.request, Bytes: t.bytes.Load(), Objects: int(t.objects.Load()),
		Took: time.Since(t.request.At), Err: err,
	})
}
