package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var (
	podResource    = corev1.SchemeGroupVersion.WithResource("pods")
	secretResource = corev1.SchemeGroupVersion.WithResource("secrets")
	widgetResource = schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}
)

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

// The server's own lists, each decoded by something that is not under test.

func listPods(contentType string) func(context.Context, string) ([]*corev1.Pod, error) {
	return func(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
		config := cluster.Config()
		config.ContentType = contentType
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return sorted(pointers(list.Items)), nil
	}
}

func listSecrets(ctx context.Context, namespace string) ([]*corev1.Secret, error) {
	client, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return sorted(pointers(list.Items)), nil
}

func listUnstructured(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(widgetResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return sorted(pointers(list.Items)), nil
}

func listWidgets(ctx context.Context, namespace string) ([]*widget, error) {
	client, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("/apis/%s/%s/namespaces/%s/widgets", widgetResource.Group, widgetResource.Version, namespace)
	body, err := client.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []*widget }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for _, w := range list.Items {
		w.TypeMeta = metav1.TypeMeta{} // the type says it; client-go's typed clients leave it empty too
	}
	return sorted(list.Items), nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, 0, len(items))
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

func sorted[T metav1.Object](items []T) []T {
	slices.SortFunc(items, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return items
}

// without QPS, client-go slows the tests down by itself.
func unlimited(config *rest.Config) *rest.Config {
	config.QPS = -1
	return config
}
