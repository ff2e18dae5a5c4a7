package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	opList  = "list"
	opWatch = "watch"
)

// listQuery is the query of one page.
func (s *HTTPSource[T]) listQuery(o ListOptions) url.Values {
	q := s.selectors()
	set(q, "resourceVersion", o.ResourceVersion)
	set(q, "resourceVersionMatch", string(o.ResourceVersionMatch))
	set(q, "continue", o.Continue)
	if o.Limit > 0 {
		q.Set("limit", strconv.FormatInt(o.Limit, 10))
	}
	return q
}

// watchQuery is the query of a watch.
func (s *HTTPSource[T]) watchQuery(o WatchOptions) url.Values {
	q := s.selectors()
	q.Set("watch", "true")
	q.Set("allowWatchBookmarks", "true")
	set(q, "resourceVersion", o.ResourceVersion)
	if o.SendInitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan))
	}
	if o.Timeout > 0 {
		q.Set("timeoutSeconds", strconv.FormatInt(max(1, int64(o.Timeout/time.Second)), 10))
	}
	return q
}

func (s *HTTPSource[T]) selectors() url.Values {
	q := url.Values{}
	set(q, "labelSelector", s.opts.LabelSelector)
	set(q, "fieldSelector", s.opts.FieldSelector)
	set(q, "shardSelector", s.opts.Shard.selector())
	return q
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// get sends the request and returns the body of a good answer. A server that
// refuses protobuf is asked once more, for JSON, and never for protobuf again.
func (s *HTTPSource[T]) get(ctx context.Context, op string, query url.Values) (io.ReadCloser, *tracer, error) {
	jsonOnly := s.refusedProtobuf.Load()
	body, trace, err := s.send(ctx, op, query, s.accept.header(op, jsonOnly))
	if err == nil || jsonOnly || !s.accept.canFallBack {
		return body, trace, err
	}
	if e, ok := errors.AsType[*Error](err); ok && (e.Code == http.StatusNotAcceptable || e.Code == http.StatusUnsupportedMediaType) {
		s.refusedProtobuf.Store(true)
		return s.send(ctx, op, query, s.accept.header(op, true))
	}
	return nil, nil, err
}

func (s *HTTPSource[T]) send(ctx context.Context, op string, query url.Values, accept string) (io.ReadCloser, *tracer, error) {
	ctx, trace := s.traced(ctx, op, query, accept)
	resp, err := s.exchange(ctx, op, query, accept)
	trace.answered(resp, err)
	if err != nil {
		return nil, nil, err
	}
	return trace.counting(unzipped(resp)), trace, nil
}

// exchange sends the request and returns the answer. With an error, that is
// only the header, if it came.
func (s *HTTPSource[T]) exchange(ctx context.Context, op string, query url.Values, accept string) (*http.Response, error) {
	u := s.base
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, s.failure(op, err)
	}
	req.Header.Set("Accept", accept)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.failure(op, err)
	}
	if resp.StatusCode != http.StatusOK {
		body := unzipped(resp)
		defer body.Close()
		return resp, s.failure(op, readError(resp, body, op, s.gvr.GroupResource()))
	}
	return resp, nil
}

// failure makes an error tell what it is about. It takes out of the transport's
// errors what it says itself, and the URL, which may hold more than it should.
func (s *HTTPSource[T]) failure(op string, err error) error {
	e := &Error{Op: op, Resource: s.gvr, Namespace: s.opts.Namespace, Err: err}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		e.Err = &ConnectError{Host: s.base.Host, Err: transport.Err}
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		st := status.Status()
		e.Code, e.Reason, e.Message = int(st.Code), st.Reason, printable(st.Message)
		if st.Details != nil {
			e.RetryAfter = time.Duration(max(st.Details.RetryAfterSeconds, 0)) * time.Second
		}
	}
	return e
}

// ConnectError says that the server couldn't be reached.
type ConnectError struct {
	Host string // "host:port" as configured
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("can't reach %s: %v", e.Host, e.Err) }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// longestText is the longest that an error may quote of what a server sent.
const longestText = 1024

// printable makes a server's words fit for a log line: bounded, one line, no
// control characters.
func printable(s string) string {
	if len(s) > longestText {
		s = strings.ToValidUTF8(s[:longestText], "") + "…"
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
