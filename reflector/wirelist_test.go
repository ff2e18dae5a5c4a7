package reflector

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"informer.example/object"
)

// podsOf is what client-go's decoders make of a recorded list.
func podsOf(t testing.TB, e recorded) *corev1.PodList {
	t.Helper()
	list := &corev1.PodList{}
	if bytes.HasPrefix(e.body, []byte(protobufMagic)) {
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(e.body[4:]); err != nil {
			t.Fatal(err)
		}
		if err := list.Unmarshal(unknown.Raw); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if err := kjson.Unmarshal(e.body, list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRecorded_PodLists(t *testing.T) {
	rec := recording(t)
	for name, plain := range map[string]string{
		"pods-list-json":              "pods-list-json",
		"pods-list-protobuf":          "pods-list-protobuf",
		"pods-list-gzip-json":         "pods-list-json",
		"pods-list-gzip-protobuf":     "pods-list-protobuf",
		"pods-list-empty-json":        "pods-list-empty-json",
		"pods-list-empty-protobuf":    "pods-list-empty-protobuf",
		"pods-list-page1-json":        "pods-list-page1-json",
		"pods-list-page2-protobuf":    "pods-list-page2-protobuf",
		"pods-list-page3-json":        "pods-list-page3-json",
		"pods-list-inconsistent-json": "pods-list-inconsistent-json",
	} {
		t.Run(name, func(t *testing.T) {
			items, meta, err := listAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
			if err != nil {
				t.Fatal(err)
			}
			want := podsOf(t, rec[plain])
			wantMeta := ListMeta{ResourceVersion: want.ResourceVersion, Continue: want.Continue}
			if want.RemainingItemCount != nil {
				wantMeta.RemainingItemCount = *want.RemainingItemCount
			}
			if strings.Contains(name, "gzip") { // recorded a moment later
				wantMeta.ResourceVersion = meta.ResourceVersion
			}
			if diff := cmp.Diff(wantMeta, meta); diff != "" {
				t.Error(diff)
			}
			if len(items) != len(want.Items) {
				t.Fatalf("%d items, want %d", len(items), len(want.Items))
			}
			for i := range items {
				pod := &want.Items[i]
				wantItem := object.Item[*corev1.Pod]{
					Key: object.Key{Namespace: pod.Namespace, Name: pod.Name}, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Object: pod,
				}
				if diff := cmp.Diff(wantItem, items[i]); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func TestRecorded_WidgetLists(t *testing.T) {
	rec := recording(t)
	var oracle unstructured.UnstructuredList
	if err := oracle.UnmarshalJSON(rec["widgets-list-json"].body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"widgets-list-json", "widgets-list-either"} {
		items, meta, err := listAll(t, sourceOf(t, rec[name].transport(), widgetsGVR, SourceOptions[*unstructured.Unstructured]{}))
		if err != nil {
			t.Fatal(err)
		}
		if meta.ResourceVersion != oracle.GetResourceVersion() {
			t.Errorf("%s: resourceVersion %q, want %q", name, meta.ResourceVersion, oracle.GetResourceVersion())
		}
		if len(items) != len(oracle.Items) || len(items) == 0 {
			t.Fatalf("%s: %d items, want %d", name, len(items), len(oracle.Items))
		}
		for i, it := range items {
			if diff := cmp.Diff(oracle.Items[i].Object, it.Object.Object); diff != "" {
				t.Error(name, diff)
			}
		}
	}

	// The same as a user's own struct, and its metadata in protobuf.
	own, _, err := listAll(t, sourceOf(t, rec["widgets-list-json"].transport(), widgetsGVR, SourceOptions[*widget]{}))
	if err != nil || len(own) != len(oracle.Items) {
		t.Fatalf("%d items of a user's struct, %v", len(own), err)
	}
	partial, _, err := listAll(t, sourceOf(t, rec["widgets-metadata-list-protobuf"].transport(), widgetsGVR, SourceOptions[*metav1.PartialObjectMetadata]{}))
	if err != nil || len(partial) != len(oracle.Items) {
		t.Fatalf("%d items of metadata, %v", len(partial), err)
	}
	for i := range oracle.Items {
		if own[i].UID != oracle.Items[i].GetUID() || own[i].Object.Kind != "" {
			t.Errorf("user's struct: %+v", own[i])
		}
		if partial[i].UID != oracle.Items[i].GetUID() || partial[i].Object.Kind != "" {
			t.Errorf("metadata: %+v", partial[i])
		}
	}
}

// TestRecorded_BuiltInsAsUnstructured: typed lists leave kind and apiVersion
// out of their items.
func TestRecorded_BuiltInsAsUnstructured(t *testing.T) {
	rec := recording(t)
	var oracle unstructured.UnstructuredList
	if err := oracle.UnmarshalJSON(rec["pods-list-json"].body); err != nil {
		t.Fatal(err)
	}
	items, _, err := listAll(t, sourceOf(t, rec["pods-list-json"].transport(), podsGVR, SourceOptions[*unstructured.Unstructured]{}))
	if err != nil || len(items) != len(oracle.Items) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	for i, it := range items {
		if it.Object.GetKind() != "Pod" || it.Object.GetAPIVersion() != "v1" {
			t.Fatalf("kind %q, apiVersion %q", it.Object.GetKind(), it.Object.GetAPIVersion())
		}
		if diff := cmp.Diff(oracle.Items[i].Object, it.Object.Object); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestRecorded_MetadataLists(t *testing.T) {
	rec := recording(t)
	type items = []object.Item[*metav1.PartialObjectMetadata]
	var both [2]items
	for i, name := range []string{"pods-metadata-list-json", "pods-metadata-list-protobuf"} {
		var err error
		if both[i], _, err = listAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{})); err != nil {
			t.Fatal(err)
		}
	}
	if len(both[0]) == 0 {
		t.Fatal("no items")
	}
	if diff := cmp.Diff(both[0], both[1]); diff != "" {
		t.Errorf("JSON and protobuf differ: %s", diff)
	}
	// A server that can't reduce sends the objects whole.
	whole, _, err := listAll(t, sourceOf(t, rec["pods-list-json"].transport(), podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{}))
	if err != nil || len(whole) == 0 {
		t.Fatalf("%d items, %v", len(whole), err)
	}
}
