package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// parseNamed: put NAME… [app=VALUE], drop NAME… [together]
//
// They make sense in any state, so that a part of a script is a script.
func parseNamed(verb string, a args) (func(*runner) error, error) {
	if len(a) == 0 {
		return nil, fmt.Errorf("a name is missing")
	}
	names, last := a, a[len(a)-1]
	app, isApp := strings.CutPrefix(last, "app=")
	if isApp || verb == "drop" && last == "together" {
		names = a[:len(a)-1]
	}
	if verb == "drop" {
		if last == "together" {
			return func(r *runner) error { return r.dropTogether(names) }, nil
		}
		return func(r *runner) error { return r.each(names, r.drop) }, nil
	}
	if !isApp {
		app = "web"
	}
	return func(r *runner) error { return r.each(names, func(name string) error { return r.put(name, app) }) }, nil
}

func (r *runner) each(names []string, do func(name string) error) error {
	for _, name := range names {
		if err := r.checker.Write(func() error { return do(name) }); err != nil {
			return err
		}
	}
	return nil
}

// put creates an object, or updates it, which always changes it.
func (r *runner) put(name, app string) error {
	r.turn++
	server, gvr := r.cluster.Server(0), r.resource()
	current, err := server.Get(gvr, "default", name)
	create := apierrors.IsNotFound(err)
	if create {
		current, err = r.newObject(name), nil
	}
	if err != nil {
		return err
	}
	m := current.(metav1.Object)
	m.SetLabels(map[string]string{"app": app})
	m.SetAnnotations(map[string]string{"turn": strconv.Itoa(r.turn)})
	write := server.Update
	if create {
		write = server.Create
	}
	return r.record(write(gvr, current))
}

// drop deletes an object if there is one.
func (r *runner) drop(name string) error {
	gone, err := r.cluster.Server(0).Delete(r.resource(), "default", name)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	r.forget(gone)
	return nil
}

// forget records a deletion.
func (r *runner) forget(gone runtime.Object) {
	m := gone.(metav1.Object)
	key := object.Key{Namespace: m.GetNamespace(), Name: m.GetName()}
	r.history.Delete(key, m.GetResourceVersion())
	delete(r.known, key.String())
}

// dropTogether deletes those that exist in one revision.
func (r *runner) dropTogether(names []string) error {
	objects, _, err := r.cluster.Server(0).List(r.resource(), "")
	if err != nil {
		return err
	}
	var there []types.NamespacedName
	for _, obj := range objects {
		if m := obj.(metav1.Object); slices.Contains(names, m.GetName()) {
			there = append(there, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()})
		}
	}
	if len(there) == 0 {
		return nil
	}
	return r.together(there)
}
