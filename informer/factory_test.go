package informer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
	"informer.example/informer"
)

func TestFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		create(t, server, "other", "b")
		if _, err := server.Create(schema.GroupVersionResource{Version: "v1", Resource: "nodes"},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}); err != nil {
			t.Fatal(err)
		}
		f, pods := podInformer(t, server, informer.WithNamespace("default"))
		start(t, f)

		// More can be asked for after Start, and runs at once.
		nodes, err := informer.For[*corev1.Node](f)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := informer.ForResource[*metav1.PartialObjectMetadata](f, podsGVR)
		if err != nil {
			t.Fatal(err)
		}
		untyped, err := informer.ForResource[*unstructured.Unstructured](f, podsGVR)
		if err != nil {
			t.Fatal(err)
		}
		own, err := informer.ForResource[*phaseOnly](f, podsGVR)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := pods.GetIndexer().ListKeys(); len(got) != 1 || got[0] != "default/a" {
			t.Errorf("pods: %v, want those of the factory's namespace", got)
		}
		if got := nodes.GetIndexer().ListKeys(); len(got) != 1 || got[0] != "node-1" {
			t.Errorf("nodes: %v; a namespace doesn't apply to them", got)
		}
		if got := meta.GetIndexer().List(); len(got) != 1 || got[0].Labels["app"] != "web" {
			t.Errorf("metadata: %v", got)
		}
		if got := untyped.GetIndexer().List(); len(got) != 1 || got[0].GetKind() != "Pod" || got[0].GetAPIVersion() != "v1" {
			t.Errorf("unstructured: %v; want its kind filled in", got)
		}
		if got := own.GetIndexer().List(); len(got) != 1 || got[0].Status.Phase != "Pending" {
			t.Errorf("a struct of one's own: %v", got)
		}
		f.Shutdown()
		if _, err := informer.For[*appsv1.Deployment](f); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("after Shutdown: %v", err)
		}
	})
}

// phaseOnly is a projection: of a pod it decodes the metadata and one field.
type phaseOnly struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func TestForUnknownType(t *testing.T) {
	f := informer.NewFactory(apisim.New().Config())
	if _, err := informer.For[*unstructured.Unstructured](f); err == nil || !strings.Contains(err.Error(), "ForResource") {
		t.Errorf("For a type that names no resource: %v; want advice", err)
	}
	if _, err := informer.For[*phaseOnly](f); err == nil {
		t.Error("For a type of one's own: no error")
	}
}

func TestWaitAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := podInformer(t, apisim.New())
		f.Shutdown()
		f.Start(t.Context())
		if err := f.WaitForCacheSync(t.Context()); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("%v, want ErrStopped: nothing has run", err)
		}
	})
}
