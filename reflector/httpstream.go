package reflector

import (
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// httpStream is an open watch of an [HTTPSource].
type httpStream[T metav1.Object] struct {
	source *HTTPSource[T]
	body   io.ReadCloser
	trace  *tracer // nil: nobody traces it
	cancel context.CancelFunc

	// What follows belongs to the goroutine that calls Next.
	frames frameReader // nil before the first byte
	err    error       // how the stream ended
	known  reuse[T]    // what is stored, while the initial events last
}

func newHTTPStream[T metav1.Object](s *HTTPSource[T], body io.ReadCloser, trace *tracer, cancel context.CancelFunc) *httpStream[T] {
	return &httpStream[T]{source: s, body: body, trace: trace, cancel: cancel}
}

// Next implements [Stream].
func (s *httpStream[T]) Next() (Event[T], error) {
	if s.err != nil {
		return Event[T]{}, s.err
	}
	ev, err := s.read()
	if err != nil {
		if err != io.EOF {
			err = s.source.failure(opWatch, err)
		}
		s.err = err
		s.trace.ended(err)
	}
	return ev, err
}

func (s *httpStream[T]) read() (ev Event[T], err error) {
	if s.frames == nil {
		if s.frames, err = framesOf(s.body, s.source.opts.MaxFrameBytes); err != nil {
			return ev, err
		}
	}
	f, err := s.frames.next()
	for err == nil && f.event != 0 && f.event != Bookmark && s.source.opts.Shard.foreign(f.obj, f.enc) {
		f, err = s.frames.next()
	}
	if err != nil {
		return ev, err
	}
	if f.event == 0 {
		return ev, frameStatus(f.obj)
	}
	received := s.trace.received(f.event, len(f.obj))
	ev, err = s.event(f)
	if err == nil {
		s.trace.decoded(f.event, len(f.obj), received, ev.Item.Key, ev.Item.UID, ev.Item.ResourceVersion, ev.Reused, ev.Quarantined)
	}
	return ev, err
}

// event decodes a frame that is no error.
func (s *httpStream[T]) event(f frame) (ev Event[T], err error) {
	if f.event == Bookmark {
		id, err := peek(f.obj, f.enc)
		if err != nil {
			return ev, &DecodeError{What: "a bookmark", Err: err}
		}
		if id.initialEventsEnd {
			s.known = reuse[T]{}
		}
		return Event[T]{
			Type:             Bookmark,
			Item:             object.Item[T]{ResourceVersion: string(id.resourceVersion)},
			InitialEventsEnd: id.initialEventsEnd,
		}, nil
	}
	ev.Type = f.event
	if f.event == Added {
		if ev.Item, ev.Reused = s.known.find(f.obj, f.enc); ev.Reused {
			return ev, nil
		}
	}
	ev.Item, ev.Quarantined, err = s.source.objects.decode(f.obj, f.enc, metav1.TypeMeta{})
	return ev, unreadable("a watch event", err)
}

// Close implements [Stream].
func (s *httpStream[T]) Close() error {
	s.trace.ended(context.Canceled)
	s.cancel()
	return s.body.Close()
}
