package reflector

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Secret that can't be decoded is quarantined with an error that is logged:
// it names the field, and doesn't quote the value.
func TestQuarantineDoesNotQuoteTheObject(t *testing.T) {
	d := newObjectDecoder(func() *corev1.Secret { return new(corev1.Secret) }, nil, nil)
	raw := `{"metadata":{"name":"s","uid":"u","resourceVersion":"1"},"data":{"password":"hunter2!"}}`
	it, bad, err := d.decode([]byte(raw), encJSON, metav1.TypeMeta{})
	if err != nil || bad == nil || it.Key.Name != "s" {
		t.Fatalf("decoded to %+v, %v, %v; want it quarantined", it, bad, err)
	}
	if strings.Contains(bad.Error(), "hunter2") || !strings.Contains(bad.Error(), "password") {
		t.Errorf("the error %q is to name the field, and not what is in it", bad)
	}
}
