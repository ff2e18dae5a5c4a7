package reflector

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
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

// An address may hold a password. One that can't be parsed was quoted.
func TestBadAddressIsNotQuoted(t *testing.T) {
	for _, host := range []string{"https://admin:hunter2@host:no-port", "https://admin:hunter2@ho st", "https://admin:hunter2%t@host"} {
		_, err := NewHTTPSource(&rest.Config{Host: host}, schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, SourceOptions[*corev1.Secret]{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
