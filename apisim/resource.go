package apisim

import (
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource describes one kind that the server stores. The zero value of each
// optional field is the plain case.
type Resource struct {
	GVR        schema.GroupVersionResource
	Kind       string
	ListKind   string // "" means Kind + "List"
	Namespaced bool
	ShortNames []string

	// Prototype is a zero object of the Go type, for built-in resources: they
	// speak JSON and protobuf. nil marks a custom resource: its objects are
	// *unstructured.Unstructured and speak JSON only.
	Prototype runtime.Object

	// Fields returns the values of the selectable fields. It must return the same
	// keys for every object, set or not: the keys of a zero object decide which
	// field selectors the server accepts. nil means metadata.name and, for a
	// namespaced resource, metadata.namespace.
	Fields func(runtime.Object) map[string]string

	// StatusSubresource says that spec and status are written by different
	// requests: the main endpoint ignores the status, /status everything else.
	// It binds HTTP requests only; direct writes set what they are given.
	StatusSubresource bool

	// Generation says that metadata.generation counts the changes to anything
	// but metadata and status.
	Generation bool

	// Uncached says that the real server keeps no watch cache for the resource,
	// as for events: a watch gets the end marker but no periodic bookmark.
	Uncached bool

	// initialStatus is set on creation over HTTP, where the client's is dropped.
	initialStatus func(runtime.Object)
}

// CustomResource describes a resource that is defined by a CRD: JSON only.
func CustomResource(gvr schema.GroupVersionResource, kind string, namespaced bool) Resource {
	return Resource{GVR: gvr, Kind: kind, Namespaced: namespaced, Generation: true}
}

// GVK returns the kind that the resource's objects carry.
func (r *Resource) GVK() schema.GroupVersionKind { return r.GVR.GroupVersion().WithKind(r.Kind) }

func (r *Resource) groupResource() schema.GroupResource { return r.GVR.GroupResource() }

func (r *Resource) apiVersion() string { return r.GVR.GroupVersion().String() }

func (r *Resource) typed() bool { return r.Prototype != nil }

// newObject returns an empty object of the stored form.
func (r *Resource) newObject() runtime.Object {
	if r.typed() {
		return reflect.New(reflect.TypeOf(r.Prototype).Elem()).Interface().(runtime.Object)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(r.GVK())
	return u
}

// complete fills the defaults and refuses a description that cannot work.
func (r *Resource) complete() error {
	if r.GVR.Resource == "" || r.GVR.Version == "" || r.Kind == "" {
		return fmt.Errorf("apisim: resource %v: GVR and Kind are needed", r.GVR)
	}
	if r.ListKind == "" {
		r.ListKind = r.Kind + "List"
	}
	if r.typed() {
		if _, ok := r.Prototype.(metav1.Object); !ok {
			return fmt.Errorf("apisim: resource %v: prototype %T has no object metadata", r.GVR, r.Prototype)
		}
		if _, ok := r.Prototype.(protoMarshaler); !ok {
			return fmt.Errorf("apisim: resource %v: prototype %T cannot be written as protobuf; leave Prototype nil for a custom resource", r.GVR, r.Prototype)
		}
	}
	if r.Fields == nil {
		r.Fields = metadataFields(r.Namespaced)
	}
	return nil
}

// verbs is what discovery announces.
func (r *Resource) verbs() metav1.Verbs {
	return metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// normalize returns a private copy of obj in the stored form: typed without
// TypeMeta, or unstructured with it.
func (r *Resource) normalize(obj runtime.Object) (runtime.Object, error) {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil, fmt.Errorf("no object given")
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() && gvk != r.GVK() {
		return nil, fmt.Errorf("object is a %s, the resource %s holds %s", gvk, r.groupResource(), r.GVK())
	}
	u, isUnstructured := obj.(*unstructured.Unstructured)
	switch {
	case r.typed() && reflect.TypeOf(obj) == reflect.TypeOf(r.Prototype):
		c := obj.DeepCopyObject()
		c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return c, nil
	case r.typed() && isUnstructured:
		c := r.newObject()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
			return nil, err
		}
		c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return c, nil
	case r.typed():
		return nil, fmt.Errorf("object is a %T, the resource %s holds %T", obj, r.groupResource(), r.Prototype)
	case isUnstructured:
		u = u.DeepCopy()
		if u.Object == nil {
			u.Object = map[string]any{}
		}
		u.SetGroupVersionKind(r.GVK())
		return u, nil
	default:
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{Object: m}
		u.SetGroupVersionKind(r.GVK())
		return u, nil
	}
}

// fieldNames lists the selectable fields, sorted.
func (r *Resource) fieldNames() []string {
	m := r.Fields(r.newObject())
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
