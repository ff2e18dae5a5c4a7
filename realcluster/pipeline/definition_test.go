package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"informer.example/informer"
	"informer.example/realcluster/wire"
	"informer.example/reflector"
)

// passingResource is one whose definition comes and goes.
var passingResource = schema.GroupVersionResource{Group: "passing.informer.example", Version: "v1", Resource: "widgets"}

// A definition that is deleted takes its objects with it, and the informer tells of
// that. When it is made anew the informer goes on by itself.
func TestF10_DefinitionDeletedAndRecreated(t *testing.T) { // P1, P2
	t.Parallel()
	w := newWriter(t, passingResource, makeNamespace(t))
	s := follow(t, "widgets of a passing definition", w.namespace, settings[*unstructured.Unstructured]{
		passingResource, reflector.EncodingAuto, informer.InOrder, listPassing(w)})
	s.awaitRefused(t, apierrors.IsNotFound) // it isn't there yet

	define(t)
	w.create("a")
	w.create("b")
	s.awaitState(t, w)

	undefine(t)
	eventually(t, "the handler is told that all is gone", func() bool { return s.knows(nil) }, s.describe)
	eventually(t, "the informer says why it isn't served", func() bool { return apierrors.IsNotFound(s.status().LastError) }, s.describe)

	define(t)
	w.create("b") // the same name, another object
	w.create("c")
	s.awaitState(t, w)
	w.touch("c")
	s.awaitState(t, w)
	s.stop(t)
}

func listPassing(w *writer) func(context.Context, string) ([]*unstructured.Unstructured, error) {
	return func(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
		list, err := w.client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return sorted(pointers(list.Items)), nil
	}
}

// define installs the definition and returns when it is served.
func define(t *testing.T) {
	t.Helper()
	crd := wire.WidgetCRD()
	crd.Name, crd.Spec.Group = strings.Replace(crd.Name, crd.Spec.Group, passingResource.Group, 1), passingResource.Group
	if _, err := envtest.InstallCRDs(cluster.Config(), envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		t.Fatal(err)
	}
	awaitServed(t, true)
}

func undefine(t *testing.T) {
	t.Helper()
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	if err := crds.Delete(t.Context(), "widgets."+passingResource.Group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is gone", func() bool {
		_, err = crds.Get(t.Context(), "widgets."+passingResource.Group, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, func() string { return fmt.Sprint(err) })
	awaitServed(t, false)
}

// awaitServed waits until the server answers for the resource, or no longer does.
func awaitServed(t *testing.T, want bool) {
	t.Helper()
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is served follows the definition", func() bool {
		_, err = client.Resource(passingResource).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		return want && err == nil || !want && apierrors.IsNotFound(err)
	}, func() string { return fmt.Sprint(err) })
}
