package reflector

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
)

// TestServer_Refused: what is wrong is said, and that it is nothing but that.
func TestServer_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apisim.New()
		r := start(t, s, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}, SourceOptions[*unstructured.Unstructured]{}, Options{})
		err := r.Status().LastError
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "gadgets in example.com/v1") || !strings.Contains(err.Error(), "CRD") {
			t.Errorf("LastError: %v", err)
		}
		r.end()
	})
}

// TestServer_CustomResource: JSON alone, and three ways to hold it.
func TestServer_CustomResource(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}
	make := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "demo.informer.example/v1", "kind": "Widget",
			"metadata": map[string]any{"namespace": "default", "name": name},
			"spec":     map[string]any{"size": int64(3), "ratio": 1.5},
		}}
	}
	server := func() *apisim.Server {
		s := apisim.New(apisim.WithResource(apisim.CustomResource(gvr, "Widget", true)))
		must(s.Create(gvr, make("a")))
		return s
	}
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*unstructured.Unstructured]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		for _, it := range r.sink.items {
			size, _, _ := unstructured.NestedInt64(it.Object.Object, "spec", "size")
			if size != 3 || it.Object.GetKind() != "Widget" {
				t.Errorf("got %v", it.Object)
			}
		}
		r.converged(gvr)
		r.end()
	})
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*widget]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		for _, it := range r.sink.items {
			if it.Object.Spec.Size != 3 || it.Object.Spec.Ratio != 1.5 {
				t.Errorf("got %+v", it.Object)
			}
		}
		r.converged(gvr)
		r.end()
	})
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*metav1.PartialObjectMetadata]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		r.converged(gvr)
		r.end()
	})
}

// TestF11_NoProtobuf: a server that refuses protobuf is asked for it once.
func TestF11_NoProtobuf(t *testing.T) {
	for _, code := range []int{http.StatusNotAcceptable, http.StatusUnsupportedMediaType} {
		synctest.Test(t, func(t *testing.T) {
			s := apisim.New()
			must(s.Create(podsGVR, pod("a")))
			var refused atomic.Int64
			s.SetFault(func(r *http.Request) apisim.Fault {
				if strings.Contains(r.Header.Get("Accept"), typeProtobuf) {
					refused.Add(1)
					return apisim.Respond(code, "text/plain", "only JSON")
				}
				return nil
			})
			r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{})
			must(s.Create(podsGVR, pod("b")))
			time.Sleep(time.Hour)
			synctest.Wait()
			if refused.Load() != 1 || r.Status().LastError != nil || r.Status().Lists != 1 {
				t.Errorf("refused %d times, %+v", refused.Load(), r.Status())
			}
			r.converged(podsGVR)
			r.end()
		})
	}
}

// TestD9_TransformOnce: exactly once for each object received, and what
// identifies the object stays beside it.
func TestD9_TransformOnce(t *testing.T) {
	for _, enc := range []Encoding{EncodingJSON, EncodingProtobuf} {
		synctest.Test(t, func(t *testing.T) {
			s := apisim.New()
			must(s.Create(podsGVR, pod("a")))
			must(s.Create(podsGVR, pod("b")))
			var calls atomic.Int64
			strip := func(p *corev1.Pod) (*corev1.Pod, error) {
				calls.Add(1)
				if p.Name == "bad" {
					return nil, errors.New("no")
				}
				return &corev1.Pod{}, nil // not even a name
			}
			r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc, Transform: strip}, Options{})
			must(s.Create(podsGVR, pod("c")))
			must(s.Create(podsGVR, pod("bad")))
			must(s.Delete(podsGVR, "default", "a"))
			time.Sleep(10 * time.Minute) // bookmarks have no object
			synctest.Wait()
			if calls.Load() != 5 {
				t.Errorf("%d calls for 5 objects", calls.Load())
			}
			keys := r.sink.keys()
			if len(keys) != 2 || !strings.HasPrefix(keys[0], "default/b@") || strings.HasSuffix(keys[0], "@") || r.Status().Quarantined != 1 {
				t.Errorf("sink has %q, status %+v", keys, r.Status())
			}
			must(s.Delete(podsGVR, "default", "bad"))
			synctest.Wait()
			r.end()
		})
	}
}
