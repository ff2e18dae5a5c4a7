package apisim

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault stands between a request and the server. It may answer by itself, call
// next with the request, a changed one or a writer of its own, do nothing, or
// panic with http.ErrAbortHandler to break the connection. nil is no fault.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// SetFault asks choose, for each request from now on, which fault it meets. nil
// ends all faults. choose must be safe for concurrent use. The request has been
// counted in Stats by then.
func (s *Server) SetFault(choose func(r *http.Request) Fault) {
	if choose == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&choose)
}

func (s *Server) chosenFault(r *http.Request) Fault {
	if choose := s.fault.Load(); choose != nil {
		return (*choose)(r)
	}
	return nil
}

// Refuse answers with the status, whose Code is the HTTP status. A retryAfter
// above zero is sent as a Retry-After header, in whole seconds, rounded up.
func Refuse(status metav1.Status, retryAfter time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		st := status
		st.Kind, st.APIVersion = "Status", "v1"
		if st.Status == "" {
			st.Status = metav1.StatusFailure
		}
		if retryAfter > 0 {
			details := metav1.StatusDetails{}
			if st.Details != nil {
				details = *st.Details
			}
			details.RetryAfterSeconds = int32((retryAfter + time.Second - 1) / time.Second)
			st.Details = &details
		}
		writeStatus(w, r, &st)
	}
}

// Respond answers with the bytes given, which need not be an API answer.
func Respond(code int, contentType, body string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body)) // the client may be gone
	}
}

// CutAfter serves the request and breaks the connection after n bytes of the
// body, all of which the client can read. A shorter answer is left whole.
func CutAfter(n int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&cutter{ResponseWriter: w, left: n}, r)
	}
}

// Hang takes the request and never answers; it ends when the client gives up.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

type cutter struct {
	http.ResponseWriter
	left int64
}

func (c *cutter) Write(b []byte) (int, error) {
	if int64(len(b)) <= c.left {
		n, err := c.ResponseWriter.Write(b)
		c.left -= int64(n)
		return n, err
	}
	b, c.left = b[:c.left], 0 // deferred writes still come
	_, _ = c.ResponseWriter.Write(b)
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Unwrap lets http.ResponseController reach the transport's Flush.
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
