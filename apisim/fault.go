package apisim

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim/fault"
)

// Fault stands between a request and the server: see package fault, which has
// many and a Script that chooses among them.
type Fault = fault.Fault

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

// The faults that most tests need, under short names.

// Refuse is [fault.Refuse].
func Refuse(status metav1.Status, retryAfter time.Duration) Fault {
	return fault.Refuse(status, retryAfter)
}

// Respond is [fault.Respond].
func Respond(code int, contentType, body string) Fault { return fault.Respond(code, contentType, body) }

// CutAfter is [fault.CutAfter].
func CutAfter(n int64) Fault { return fault.CutAfter(n) }

// Hang is [fault.Hang].
func Hang() Fault { return fault.Hang() }
