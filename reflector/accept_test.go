package reflector

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A struct of one's own that embedded only ObjectMeta was once asked for in
// protobuf, by ObjectMeta's promoted Unmarshal, and came out as garbage.
func TestOnlyGeneratedTypesAreAskedForInProtobuf(t *testing.T) {
	type metaOnly struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	type both struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	for _, tt := range []struct {
		obj  any
		want bool
		why  string
	}{
		{&corev1.Pod{}, true, "a generated type"},
		{&metav1.PartialObjectMetadata{}, true, "metadata has a protobuf form for every resource"},
		{&unstructured.Unstructured{}, false, "a map"},
		{&metaOnly{}, false, "Unmarshal is promoted from ObjectMeta"},
		{&both{}, false, "two promoted methods cancel each other"},
	} {
		a, err := acceptFor(tt.obj, EncodingAuto)
		if err != nil || a.protobuf != tt.want {
			t.Errorf("%T: protobuf %v, %v; want %v: %s", tt.obj, a.protobuf, err, tt.want, tt.why)
		}
	}
}
