package apisim

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The direct verbs act on the store without HTTP. They are safe for concurrent
// use, copy what they are given and what they return, and fail with the errors
// of k8s.io/apimachinery/pkg/api/errors. They write what they are given, the
// status included; only uid, creationTimestamp, deletionTimestamp, generation
// and resourceVersion are the server's.
//
// A typed resource takes its Go type or *unstructured.Unstructured and returns
// the Go type. A custom resource takes any object with the right JSON form and
// returns *unstructured.Unstructured.

// Create stores a new object. Its resourceVersion must be empty.
func (s *Server) Create(gvr schema.GroupVersionResource, obj runtime.Object) (runtime.Object, error) {
	t, own, err := s.accept(gvr, obj)
	if err != nil {
		return nil, err
	}
	return copied(s.create(t, own, direct))
}

// Update replaces an object. A resourceVersion in obj must be the stored one;
// an empty one replaces whatever is there. An update that changes nothing
// writes nothing and returns the stored object.
func (s *Server) Update(gvr schema.GroupVersionResource, obj runtime.Object) (runtime.Object, error) {
	t, own, err := s.accept(gvr, obj)
	if err != nil {
		return nil, err
	}
	m := own.(metav1.Object)
	return copied(s.update(t, m.GetNamespace(), m.GetName(), own, direct))
}

// UpdateStatus replaces the status of an object and leaves the rest.
func (s *Server) UpdateStatus(gvr schema.GroupVersionResource, obj runtime.Object) (runtime.Object, error) {
	t, own, err := s.accept(gvr, obj)
	if err != nil {
		return nil, err
	}
	m := own.(metav1.Object)
	return copied(s.update(t, m.GetNamespace(), m.GetName(), own, directStatus))
}

// Apply creates the object, or replaces it whatever its version.
func (s *Server) Apply(gvr schema.GroupVersionResource, obj runtime.Object) (runtime.Object, error) {
	t, own, err := s.accept(gvr, obj)
	if err != nil {
		return nil, err
	}
	m := own.(metav1.Object)
	for {
		m.SetResourceVersion("")
		m.SetUID("")
		stored, err := copied(s.update(t, m.GetNamespace(), m.GetName(), own, direct))
		if !apierrors.IsNotFound(err) {
			return stored, err
		}
		m.SetResourceVersion("")
		stored, err = copied(s.create(t, own, direct))
		if !apierrors.IsAlreadyExists(err) {
			return stored, err
		}
	}
}

// Delete removes an object and returns its last state, which carries the RV of
// the deletion. An object with finalizers is only marked.
func (s *Server) Delete(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	t, err := s.table(gvr)
	if err != nil {
		return nil, err
	}
	return copied(s.remove(t, namespace, name, preconditions{}))
}

// Get returns an object.
func (s *Server) Get(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	t, err := s.table(gvr)
	if err != nil {
		return nil, err
	}
	r := s.store.get(t, objectKey(namespace, name))
	if r == nil {
		return nil, apierrors.NewNotFound(t.res.groupResource(), name)
	}
	return copied(r, nil)
}

// List returns the objects of a namespace, "" for all, in the order of the API
// (byte order of "namespace/name"), and the RV that they stand for.
func (s *Server) List(gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, string, error) {
	t, err := s.table(gvr)
	if err != nil {
		return nil, "", err
	}
	page := s.store.scan(t, scanRequest{selector: selector{namespace: namespace}})
	objs := make([]runtime.Object, len(page.items))
	for i, r := range page.items {
		objs[i] = r.obj.DeepCopyObject()
	}
	return objs, formatRV(page.rv), nil
}

// ResourceVersion returns the RV of the newest write of any resource.
func (s *Server) ResourceVersion() string { return formatRV(s.store.current()) }

// Compact forgets all history: watches and exact lists from an older RV get 410
// Expired from now on, and so do older continue tokens. A watch that has not
// caught up ends. Cluster.Compact forgets less, as etcd does.
func (s *Server) Compact() { s.store.forget() }

// CloseWatches ends every watch of this server with a clean end of its stream.
func (s *Server) CloseWatches() { s.cache.closeWatches(false) }

func (s *Server) table(gvr schema.GroupVersionResource) (*table, error) {
	t := s.store.tables[gvr]
	if t == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), "")
	}
	return t, nil
}

// accept returns the resource's table and a private copy of obj.
func (s *Server) accept(gvr schema.GroupVersionResource, obj runtime.Object) (*table, runtime.Object, error) {
	t, err := s.table(gvr)
	if err != nil {
		return nil, nil, err
	}
	own, err := t.res.normalize(obj)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("%s: %v", t.res.groupResource(), err))
	}
	return t, own, nil
}

func copied(r *revision, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return r.obj.DeepCopyObject(), nil
}
