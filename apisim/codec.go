package apisim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// codecs holds what turns Go objects into bytes and back. It is built once for
// a server and is safe for concurrent use.
type codecs struct {
	scheme  *runtime.Scheme
	factory serializer.CodecFactory
	// json writes objects as they are; it sets no kind and converts nothing.
	json runtime.Serializer
}

func newCodecs(resources []Resource) (*codecs, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("apisim: build scheme: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for i := range resources {
		if r := &resources[i]; r.typed() && !scheme.Recognizes(r.GVK()) {
			scheme.AddKnownTypeWithName(r.GVK(), r.Prototype)
			metav1.AddToGroupVersion(scheme, r.GVR.GroupVersion())
		}
	}
	return &codecs{
		scheme:  scheme,
		factory: serializer.NewCodecFactory(scheme),
		json:    json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{}),
	}, nil
}
