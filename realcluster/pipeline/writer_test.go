package pipeline

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"informer.example/realcluster"
)

// patience is how long a condition may take on a machine that is busy.
const patience = 90 * time.Second

// eventually returns once cond holds; state says what is known when it doesn't.
func eventually(t *testing.T, what string, cond func() bool, state func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v; %s", what, patience, state())
		case <-poll.C:
		}
	}
}

func makeNamespace(t *testing.T) string {
	t.Helper()
	return makeNamespaceAt(t, cluster)
}

func makeNamespaceAt(t *testing.T, c *realcluster.Cluster) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "pipeline-"}}
	namespace, err = client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// writer changes the objects of one resource in one namespace, and remembers what
// a handler must be told of that.
type writer struct {
	t         *testing.T
	resource  schema.GroupVersionResource
	namespace string
	client    dynamic.ResourceInterface
	steps     map[string][]string // by key
	touches   int
}

func newWriter(t *testing.T, resource schema.GroupVersionResource, namespace string) *writer {
	t.Helper()
	return newWriterAt(t, cluster, resource, namespace)
}

func newWriterAt(t *testing.T, c *realcluster.Cluster, resource schema.GroupVersionResource, namespace string) *writer {
	t.Helper()
	client, err := dynamic.NewForConfig(unlimited(c.Config()))
	if err != nil {
		t.Fatal(err)
	}
	return &writer{t: t, resource: resource, namespace: namespace,
		client: client.Resource(resource).Namespace(namespace), steps: make(map[string][]string)}
}

func (w *writer) create(name string) {
	w.t.Helper()
	content := map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]any{"app": name}}}
	switch w.resource {
	case podResource:
		content["apiVersion"], content["kind"] = "v1", "Pod"
		content["spec"] = map[string]any{"containers": []any{map[string]any{
			"name": "c", "image": "example.com/c:1",
			"resources": map[string]any{"requests": map[string]any{"cpu": "1500m", "memory": "0.5Gi"}},
		}}}
	case secretResource:
		content["apiVersion"], content["kind"] = "v1", "Secret"
		content["stringData"] = map[string]any{"name": name}
	case widgetResource, passingResource:
		content["apiVersion"], content["kind"] = w.resource.GroupVersion().String(), "Widget"
		content["spec"] = map[string]any{
			// Numbers that a float64 and an int64 cannot hold, and odd text.
			"color": "größer <&>\u2028", "serial": int64(9007199254740993), "weight": 0.5,
			"extra": map[string]any{"list": []any{"x", int64(1), 2.5, true, nil}},
		}
	}
	obj, err := w.client.Create(w.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	w.wrote("create", name, "ADDED", obj, err)
}

func (w *writer) touch(name string) {
	w.t.Helper()
	w.touches++
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touch":"%d"}}}`, w.touches)
	obj, err := w.client.Patch(w.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	w.wrote("update", name, "UPDATED", obj, err)
}

func (w *writer) remove(name string) {
	w.t.Helper()
	err := w.client.Delete(w.t.Context(), name, metav1.DeleteOptions{})
	if w.resource == podResource {
		// A pod is updated with the time of its deletion first, whatever the grace period.
		w.wrote("delete", name, "UPDATED, dying", nil, err)
	}
	w.wrote("delete", name, "DELETED", nil, err)
}

func (w *writer) wrote(verb, name, step string, obj *unstructured.Unstructured, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s %s %s/%s: %v", verb, w.resource.Resource, w.namespace, name, err)
	}
	key := w.namespace + "/" + name
	if obj != nil {
		step += "@" + obj.GetResourceVersion()
	}
	w.steps[key] = append(w.steps[key], step)
}

// take returns the steps since the last call.
func (w *writer) take() map[string][]string {
	steps := w.steps
	w.steps = make(map[string][]string)
	return steps
}

// version is one version of one object.
type version struct{ UID, ResourceVersion string }

// state is what the server has now.
func (w *writer) state() map[string]version {
	w.t.Helper()
	return w.stateAt("")
}

// awaitCache waits until the server's watch cache has all that was written. It
// answers an informer's first list, and may lag behind.
func (w *writer) awaitCache() {
	w.t.Helper()
	now := w.state()
	eventually(w.t, "the watch cache has the "+w.resource.Resource,
		func() bool { return maps.Equal(w.stateAt("0"), now) },
		func() string { return fmt.Sprintf("want %v", now) })
}

func (w *writer) stateAt(resourceVersion string) map[string]version {
	w.t.Helper()
	list, err := w.client.List(w.t.Context(), metav1.ListOptions{ResourceVersion: resourceVersion})
	if err != nil {
		w.t.Fatalf("list %s: %v", w.resource.Resource, err)
	}
	state := make(map[string]version, len(list.Items))
	for i := range list.Items {
		obj := &list.Items[i]
		state[obj.GetNamespace()+"/"+obj.GetName()] = version{string(obj.GetUID()), obj.GetResourceVersion()}
	}
	return state
}

// differences are the steps that lead from one state to another when nothing is
// known of what was between.
func differences(before, after map[string]version) map[string][]string {
	steps := make(map[string][]string)
	for key, old := range before {
		now, exists := after[key]
		switch {
		case !exists:
			steps[key] = []string{"DELETED, unseen"}
		case now.UID != old.UID:
			steps[key] = []string{"DELETED, unseen", "ADDED@" + now.ResourceVersion}
		case now != old:
			steps[key] = []string{"UPDATED@" + now.ResourceVersion}
		}
	}
	for key, now := range after {
		if _, existed := before[key]; !existed {
			steps[key] = []string{"ADDED@" + now.ResourceVersion}
		}
	}
	return steps
}
