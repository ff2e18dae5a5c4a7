package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/compare/invariant"
	"informer.example/object"
	"informer.example/realcluster/wire"
)

// patience is how long a condition may take on a machine that is busy.
const patience = 4 * time.Minute

// eventually returns once cond holds; state says what is known when it doesn't.
func eventually(t *testing.T, what string, cond func() bool, state func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Errorf("%s: not within %v; %s", what, patience, state())
			return
		case <-poll.C:
		}
	}
}

// widget is a user's own form of the custom resource: some of its fields.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Color  string  `json:"color"`
		Serial int64   `json:"serial"`
		Weight float64 `json:"weight"`
	} `json:"spec"`
}

// truth is what the server has, decoded by client-go, in the forms in which the
// subjects keep it.
type truth map[schema.GroupVersionResource]map[object.Key]metav1.Object

func readTruth(t *testing.T, config *rest.Config) truth {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	widgets, err := dyn.Resource(wire.WidgetResource()).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := truth{podResource: {}, wire.WidgetResource(): {}}
	for i := range pods.Items {
		all[podResource][keyOf(&pods.Items[i])] = &pods.Items[i]
	}
	for i := range widgets.Items {
		all[wire.WidgetResource()][keyOf(&widgets.Items[i])] = &widgets.Items[i]
	}
	return all
}

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

func keyOf(o metav1.Object) object.Key {
	return object.Key{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// versions is what the server has without the contents.
func versions(objects map[object.Key]metav1.Object) invariant.State {
	all := make(invariant.State, len(objects))
	for key, o := range objects {
		all[key] = invariant.Version{UID: o.GetUID(), RV: o.GetResourceVersion()}
	}
	return all
}

// difference compares an object of the server with one of a cache, which may have
// another form: its metadata alone, or a user's struct.
func difference(server, cached metav1.Object) string {
	switch cached := cached.(type) {
	case *corev1.Pod:
		return differ(server, cached)
	case *unstructured.Unstructured:
		return differ(server, cached)
	case *metav1.PartialObjectMetadata:
		pod, ok := server.(*corev1.Pod)
		if !ok {
			return fmt.Sprintf("the server has a %T", server)
		}
		return differ(&pod.ObjectMeta, &cached.ObjectMeta)
	case *widget:
		text, err := json.Marshal(server)
		if err != nil {
			return err.Error()
		}
		var want widget
		if err := json.Unmarshal(text, &want); err != nil {
			return err.Error()
		}
		want.TypeMeta = cached.TypeMeta
		return differ(&want, cached)
	}
	return fmt.Sprintf("an object of type %T", cached)
}

func differ(want, got any) string {
	if equality.Semantic.DeepEqual(want, got) {
		return ""
	}
	return gocmp.Diff(want, got)
}
