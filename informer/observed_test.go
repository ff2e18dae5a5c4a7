package informer_test

import (
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

// A monitor sees all the informers of a factory, whatever their T, and what
// each stores.
func TestFactoryInformersAreObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f, _ := podInformer(t, server)
		if _, err := informer.ForResource[*metav1.PartialObjectMetadata](f, podsGVR); err != nil {
			t.Fatal(err)
		}
		if _, err := informer.For[*corev1.ConfigMap](f); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			create(t, server, "default", name)
		}
		start(t, f)

		all := f.Informers()
		var names []string
		for _, i := range all {
			names = append(names, i.Status().Name)
		}
		if len(names) != 3 || names[0] != "configmaps" || names[1] != "pods" || names[2] != "pods" {
			t.Fatalf("the informers are %q; want configmaps, pods, pods", names)
		}
		if _, typed := all[1].(*informer.Informer[pod]); !typed {
			t.Errorf("of one name, the one made first is to come first; got %T", all[1])
		}

		for n, i := range all[1:] {
			item, ok := i.Stored(object.Key{Namespace: "default", Name: "b"})
			if !ok || item.Object.GetName() != "b" || item.UID == "" || item.ResourceVersion != item.Object.GetResourceVersion() {
				t.Errorf("pods %d: stored b: %+v, %v", n, item, ok)
			}
			if _, ok := i.Stored(object.Key{Namespace: "default", Name: "x"}); ok {
				t.Errorf("pods %d: x is not there", n)
			}
			var keys []string
			for item := range i.StoredFrom(object.Key{Namespace: "default", Name: "b"}) {
				keys = append(keys, item.Key.String())
				if len(keys) == 1 {
					remove(t, server, "default", "c")
					synctest.Wait()
				}
			}
			if want := []string{"default/b", "default/c"}; !slices.Equal(keys, want) {
				t.Errorf("from b on: %q; want %q, as they were when the loop began", keys, want)
			}
			create(t, server, "default", "c")
			synctest.Wait()
			for range i.StoredFrom(object.Key{}) {
				break // a loop may break
			}
		}
	})
}
