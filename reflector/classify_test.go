package reflector

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	o.Logger, o.Rand = nil, nil
	want := Options{
		PageSize: 500, WatchTimeoutMin: 5 * time.Minute, WatchTimeoutMax: 10 * time.Minute, Slack: 30 * time.Second, ListTimeout: 90 * time.Second,
		OpenTimeout: 30 * time.Second, MarkerTimeout: time.Minute,
		Backoff: Backoff{Initial: 800 * time.Millisecond, Factor: 2, Max: 30 * time.Second, Healthy: time.Minute},
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v", o)
	}
	o = Options{PageSize: -1, WatchTimeoutMin: time.Hour, WatchTimeoutMax: time.Minute, Backoff: Backoff{Initial: time.Hour, Factor: 0.1}}.withDefaults()
	if o.PageSize != 0 || o.WatchTimeoutMax != time.Hour || o.Backoff.Max != time.Hour || o.Backoff.Factor != 1 {
		t.Errorf("got %+v", o)
	}
}

func TestClassify(t *testing.T) {
	wrapped := func(err error) error {
		return &Error{Op: "list", Resource: schema.GroupVersionResource{Resource: "pods"}, Err: err}
	}
	tooLarge := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{
		RetryAfterSeconds: 1, Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}},
	}}}
	for _, c := range []struct {
		err  error
		want errorClass
		wait time.Duration
	}{
		{errReset, classPassing, 0},
		{io.ErrUnexpectedEOF, classPassing, 0},
		{context.DeadlineExceeded, classPassing, 0},
		{&DecodeError{Err: io.ErrUnexpectedEOF}, classUndecodable, 0},
		{errGone, classExpired, 0},
		{refusal(410, metav1.StatusReasonGone), classExpired, 0},
		{refusal(410, ""), classExpired, 0},
		{tooLarge, classTooLarge, time.Second},
		{refusal(401, metav1.StatusReasonUnauthorized), classRefused, 0},
		{refusal(403, ""), classRefused, 0},
		{refusal(404, ""), classRefused, 0},
		{refusal(405, ""), classNoVerb, 0},
		{refusal(0, metav1.StatusReasonForbidden), classRefused, 0},
		{refusal(400, ""), classInvalid, 0},
		{refusal(422, metav1.StatusReasonInvalid), classInvalid, 0},
		{refusal(406, ""), classInvalid, 0},
		{refusal(408, ""), classPassing, 0},
		{refusal(429, ""), classPassing, 0},
		{refusal(500, ""), classPassing, 0},
		{refusal(503, ""), classPassing, 0},
		{refusal(504, metav1.StatusReasonTimeout), classPassing, 0},
		{fmt.Errorf("%w: %w", errSilent, context.DeadlineExceeded), classSilent, 0},
		// It said what there is to say, and then didn't end its answer.
		{fmt.Errorf("%w: %w", errSilent, errGone), classExpired, 0},
		{apierrors.NewTooManyRequests("slow down", 7), classPassing, 7 * time.Second},
	} {
		for _, err := range []error{c.err, wrapped(c.err), fmt.Errorf("more: %w", c.err)} {
			if class, wait := classify(err); class != c.want || wait != c.wait {
				t.Errorf("%v: class %d after %v, want %d after %v", err, class, wait, c.want, c.wait)
			}
		}
	}
}
