package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The faults of this file answer in the server's place.

// Refuse answers with the status, whose Code is the HTTP status, in the
// encoding that the client asks for. A retryAfter above zero is sent as a
// Retry-After header, in whole seconds, rounded up.
func Refuse(status metav1.Status, retryAfter time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		st := complete(status, retryAfter)
		if retryAfter > 0 {
			w.Header().Set("Retry-After", seconds(retryAfter))
		}
		if wantsProtobuf(r) {
			w.Header().Set("Content-Type", protobufType)
			w.WriteHeader(int(st.Code))
			_, _ = w.Write(protobufStatus(st)) // the client may be gone
			return
		}
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(int(st.Code))
		_, _ = w.Write(append(jsonOf(st), '\n'))
	}
}

// Respond answers with the bytes given, which need not be an API answer.
func Respond(code int, contentType, body string) Fault {
	return RespondWith(code, http.Header{"Content-Type": {contentType}}, body)
}

// RespondWith is Respond with headers.
func RespondWith(code int, header http.Header, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for name, values := range header {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body)) // the client may be gone
	}
}

// Overloaded is the 429 of priority and fairness: plain text, with a
// Retry-After header unless that is 0.
func Overloaded(retryAfter time.Duration) Fault {
	return plain(http.StatusTooManyRequests, "Too many requests, please try again later.", retryAfter)
}

// Panicked is the 500 of a server whose handler has panicked: plain text.
func Panicked() Fault {
	return plain(http.StatusInternalServerError, "This request caused apiserver to panic. Look in the logs for details.", 0)
}

// Draining is the 429 of a server that shuts down: it closes the connection.
func Draining() Fault {
	return RespondWith(http.StatusTooManyRequests, http.Header{
		"Content-Type": {"text/plain; charset=utf-8"}, "Retry-After": {"5"}, "Connection": {"close"},
	}, "The apiserver is shutting down, please try again later.\n")
}

// DeadlineBeforeHeaders is the 504 of a server whose own deadline has passed:
// a Status without kind, apiVersion and Content-Type.
func DeadlineBeforeHeaders() Fault {
	return RespondWith(http.StatusGatewayTimeout, http.Header{"Content-Type": nil},
		`{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`)
}

func plain(code int, text string, retryAfter time.Duration) Fault {
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}
	if retryAfter > 0 {
		h.Set("Retry-After", seconds(retryAfter))
	}
	return RespondWith(code, h, text+"\n")
}

// Expired is the 410 for a version or token that the server no longer has. A
// token is put into the Status as metadata.continue: it would continue the
// list at a newer version than the pages before.
func Expired(token string) Fault {
	st := StatusFor(http.StatusGone)
	st.Continue = token
	return Refuse(st, 0)
}

// TooLarge is the 504 for a version that the server hasn't reached.
func TooLarge(retryAfter time.Duration) Fault { return Refuse(TooLargeStatus(), retryAfter) }

// TooLargeStatus is the Status of TooLarge.
func TooLargeStatus() metav1.Status {
	return metav1.Status{
		Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout,
		Message: "Too large resource version: 1000000, current: 100",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
		}}},
	}
}

// StatusFor returns the Status that an API server sends with an HTTP status.
func StatusFor(code int) metav1.Status {
	st := metav1.Status{Code: int32(code), Reason: metav1.StatusReasonUnknown, Message: http.StatusText(code)}
	switch code {
	case http.StatusUnauthorized:
		st.Reason, st.Message = metav1.StatusReasonUnauthorized, "Unauthorized"
	case http.StatusForbidden:
		st.Reason, st.Message = metav1.StatusReasonForbidden, `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope`
	case http.StatusNotFound:
		st.Reason, st.Message = metav1.StatusReasonNotFound, "the server could not find the requested resource"
	case http.StatusMethodNotAllowed:
		st.Reason, st.Message = metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource"
	case http.StatusNotAcceptable:
		st.Reason, st.Message = metav1.StatusReasonNotAcceptable, "only the following media types are accepted: application/json, application/yaml"
	case http.StatusGone:
		st.Reason, st.Message = metav1.StatusReasonExpired, "The provided continue parameter or resourceVersion is too old"
	case http.StatusUnprocessableEntity:
		st.Reason, st.Message = metav1.StatusReasonInvalid, `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled`
	case http.StatusTooManyRequests:
		st.Reason, st.Message = metav1.StatusReasonTooManyRequests, "storage is (re)initializing"
	case http.StatusInternalServerError:
		st.Reason, st.Message = metav1.StatusReasonInternalError, "Internal error occurred: etcdserver: request timed out"
	case http.StatusServiceUnavailable:
		st.Reason, st.Message = metav1.StatusReasonServiceUnavailable, "apiserver is shutting down"
	case http.StatusGatewayTimeout:
		st.Reason, st.Message = metav1.StatusReasonTimeout, "Timeout: request did not complete within the allotted timeout"
	}
	return st
}

const (
	jsonType          = "application/json"
	protobufType      = "application/vnd.kubernetes.protobuf"
	protobufWatchType = "application/vnd.kubernetes.protobuf;stream=watch"
)

// wantsProtobuf reports whether a Status goes to the client in protobuf: if it
// accepts a plain form of it before JSON.
func wantsProtobuf(r *http.Request) bool {
	for clause := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, params, _ := strings.Cut(strings.TrimSpace(clause), ";")
		switch {
		case strings.Contains(params, "as="):
		case media == protobufType:
			return true
		case media == jsonType, media == "*/*":
			return false
		}
	}
	return false
}

func complete(st metav1.Status, retryAfter time.Duration) metav1.Status {
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
	return st
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

func protobufStatus(st metav1.Status) []byte {
	st.TypeMeta = metav1.TypeMeta{}
	b, err := st.Marshal()
	if err != nil {
		panic(fmt.Sprintf("fault: a Status that can't be encoded: %v", err))
	}
	return envelope("v1", "Status", b)
}

// DecodeStatus reads a Status that came in place of an answer, in JSON or in
// protobuf. It reports false if the body is none.
func DecodeStatus(body []byte) (metav1.Status, bool) {
	var st metav1.Status
	if bytes.HasPrefix(body, []byte(magic)) {
		_, kind, object, err := opened(body)
		return st, err == nil && kind == "Status" && st.Unmarshal(object) == nil
	}
	return st, json.Unmarshal(body, &st) == nil && st.Code != 0
}

// jsonOf encodes what is made here; it can't fail.
func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fault: %v", err))
	}
	return b
}
