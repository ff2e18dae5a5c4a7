package reflector

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errorClass is what matters about a failure for what comes next.
type errorClass uint8

const (
	classPassing     errorClass = iota // network, 429, 5xx, anything unknown: try the same again
	classExpired                       // 410: the version, or the token, is too old
	classTooLarge                      // the server hasn't reached the version
	classInvalid                       // the request itself was called wrong
	classRefused                       // 401, 403, 404: somebody must mend something
	classNoVerb                        // 405: the resource can't be listed, or watched, at all
	classUndecodable                   // the answer can't be read
	classSilent                        // nothing came within its time
)

// classify reduces an error of a Source to its class, and to what the server
// asked to wait.
func classify(err error) (errorClass, time.Duration) {
	if _, ok := errors.AsType[*DecodeError](err); ok {
		return classUndecodable, 0
	}
	status := apierrors.APIStatus(nil)
	switch told := errors.As(err, &status); {
	case !told && errors.Is(err, errSilent):
		return classSilent, 0
	case !told:
		return classPassing, 0
	}
	var wait time.Duration
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		wait = time.Duration(seconds) * time.Second
	}
	if e, ok := errors.AsType[*Error](err); ok {
		wait = max(wait, e.RetryAfter)
	}
	code := status.Status().Code
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return classExpired, wait
	case tooLarge(err):
		return classTooLarge, wait
	case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return classRefused, wait
	case apierrors.IsMethodNotSupported(err):
		return classNoVerb, wait
	case apierrors.IsTooManyRequests(err), code == http.StatusRequestTimeout, code == http.StatusConflict:
		return classPassing, wait
	case code >= 400 && code < 500, apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return classInvalid, wait
	}
	return classPassing, wait
}

// tooLarge reports whether the server says that it hasn't reached the version
// asked for.
func tooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}
