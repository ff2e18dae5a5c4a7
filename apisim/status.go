package apisim

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusOf returns the Status of an error. Anything that is not an API error is
// the server's fault.
func statusOf(err error) *metav1.Status {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		api = apierrors.NewInternalError(err)
	}
	s := api.Status()
	s.Kind, s.APIVersion = "Status", "v1"
	return &s
}

// encodeStatus returns the stand-alone form of a Status.
func encodeStatus(s *metav1.Status, proto bool) ([]byte, error) {
	if !proto {
		b, err := marshalJSON(s)
		return append(b, '\n'), err
	}
	bare := *s
	bare.TypeMeta = metav1.TypeMeta{}
	b, err := bare.Marshal()
	if err != nil {
		return nil, err
	}
	return envelope{apiVersion: "v1", kind: "Status"}.appendProto(nil, b), nil
}

// writeError answers with the error's Status, in protobuf if the client accepts
// a plain form of it.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	writeStatus(w, r, statusOf(err))
}

func writeStatus(w http.ResponseWriter, r *http.Request, s *metav1.Status) {
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	enc, ok := negotiate(r.Header.Get("Accept"), func(encoding) bool { return true }, "")
	proto := ok && enc.proto()
	b, err := encodeStatus(s, proto)
	if err != nil {
		http.Error(w, s.Message, int(s.Code))
		return
	}
	w.Header().Set("Content-Type", mediaType(proto, false))
	w.WriteHeader(int(s.Code))
	_, _ = w.Write(b) // the client may be gone
}

// tooOld answers a watch from an RV that is out of the window.
func tooOld(rv, floor uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", rv, floor))
}

// tooLarge answers a request for an RV that was not reached in time. The cache
// advises to try again in a second, the store does not.
func tooLarge(rv, current uint64, retryAfter int) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", rv, current), retryAfter)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// expiredWatch answers a watch, of a resource without a cache, from an RV that
// is compacted.
func expiredWatch() error {
	return apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")
}

// expiredList answers an exact list at an RV that is forgotten.
func expiredList() error {
	return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}

// expiredToken answers a page at an RV that is forgotten, with a token that
// continues at the same key in the newest state.
func expiredToken(t continueToken) error {
	err := apierrors.NewResourceExpired("The continue token has expired: the list can no longer be read at its resource version. " +
		"Start again without a token, or go on with the token in this answer; the list is then not consistent.")
	t.RV = newestRV
	err.ErrStatus.Continue = t.encode()
	return err
}

func notAcceptable(supported []string) error {
	return statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(supported, ", "))
}

func unsupportedMedia(supported []string) error {
	return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(supported, ", "))
}

func statusError(code int32, reason metav1.StatusReason, msg string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: msg,
	}}
}
