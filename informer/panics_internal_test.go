package informer

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A panic with an object in it doesn't put the object into the log.
func TestPanicTextHoldsNoObject(t *testing.T) {
	secret := &corev1.Secret{StringData: map[string]string{"password": "hunter2"}}
	for _, tt := range []struct {
		why, want string
		value     any
	}{
		{"text", "boom", "boom"},
		{"an error", "boom", errors.New("boom")},
		{"an object, which has a String method", "a value of type *v1.Secret", secret},
	} {
		if got := panicText(tt.value); got != tt.want || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}
