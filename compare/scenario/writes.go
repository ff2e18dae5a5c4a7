package scenario

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/compare/invariant"
	"informer.example/object"
)

// write does one kind of write n times. Every write is recorded in the history,
// as the client's selector lets it be seen.
func (r *runner) write(verb string, n int) error {
	for range n {
		if err := r.checker.Write(func() error { return r.writeOne(verb) }); err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
	}
	return nil
}

func (r *runner) writeOne(verb string) error {
	server, gvr := r.cluster.Server(0), r.resource()
	if verb == "create" {
		r.made++
		return r.record(server.Create(gvr, r.newObject(fmt.Sprintf("p%05d", r.made))))
	}
	objects, _, err := server.List(gvr, "")
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return fmt.Errorf("there is no object left")
	}
	if verb == "delete" || verb == "recreate" {
		m := objects[0].(metav1.Object)
		if verb == "recreate" { // another one each time
			r.turn++
			m = objects[r.turn%len(objects)].(metav1.Object)
		}
		gone, err := server.Delete(gvr, m.GetNamespace(), m.GetName())
		if err != nil {
			return err
		}
		r.forget(gone)
		if verb == "delete" {
			return nil
		}
		return r.record(server.Create(gvr, r.newObject(m.GetName())))
	}
	r.turn++
	obj := objects[r.turn%len(objects)]
	m := obj.(metav1.Object)
	if verb == "relabel" {
		app := "web"
		if m.GetLabels()["app"] == "web" {
			app = "other"
		}
		m.SetLabels(map[string]string{"app": app})
	} else {
		m.SetAnnotations(map[string]string{"turn": strconv.Itoa(r.turn)})
	}
	return r.record(server.Update(gvr, obj))
}

// deleteTogether deletes the n oldest in one revision.
func (r *runner) deleteTogether(n int) error {
	server, gvr := r.cluster.Server(0), r.resource()
	objects, _, err := server.List(gvr, "")
	if err != nil {
		return err
	}
	if len(objects) < n {
		return fmt.Errorf("delete together: there are only %d objects left", len(objects))
	}
	var names []types.NamespacedName
	for _, obj := range objects[:n] {
		m := obj.(metav1.Object)
		names = append(names, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()})
	}
	return r.together(names)
}

// together deletes objects in one revision, and records it of those that the
// client has seen.
func (r *runner) together(names []types.NamespacedName) error {
	var keys []object.Key
	for _, n := range names {
		key := object.Key{Namespace: n.Namespace, Name: n.Name}
		if r.known[key.String()] {
			keys = append(keys, key)
			delete(r.known, key.String())
		}
	}
	return r.checker.Write(func() error {
		if err := r.cluster.Server(0).DeleteTogether(r.resource(), names...); err != nil {
			return err
		}
		r.history.DeleteTogether(keys, r.cluster.ResourceVersion())
		return nil
	})
}

func (r *runner) newObject(name string) runtime.Object {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example/web:1"}}},
	}}
	if r.scenario.server.widgets {
		u.Object = map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}
	}
	u.SetNamespace("default")
	u.SetName(name)
	u.SetLabels(map[string]string{"app": "web"})
	return u
}

func (r *runner) record(obj runtime.Object, err error) error {
	if err != nil {
		return err
	}
	m := obj.(metav1.Object)
	key := object.Key{Namespace: m.GetNamespace(), Name: m.GetName()}
	switch {
	case r.selects(m):
		r.history.Set(key, m.GetUID(), m.GetResourceVersion())
		r.known[key.String()] = true
	case r.known[key.String()]:
		r.history.Leave(key, m.GetResourceVersion())
		delete(r.known, key.String())
	}
	return nil
}

func (r *runner) selects(m metav1.Object) bool {
	s, err := labels.Parse(r.scenario.client.selector)
	return err == nil && s.Matches(labels.Set(m.GetLabels())) && r.inShard(m)
}

// inShard is written apart from the client's own arithmetic: a share of the
// hash's range, in floating point.
func (r *runner) inShard(m metav1.Object) bool {
	shard := r.scenario.client.shard
	if shard.Count <= 1 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.GetUID())) // never fails
	return int(math.Ldexp(float64(h.Sum64()), -64)*float64(shard.Count)) == shard.Index
}

// serverState is what the client should have.
func (r *runner) serverState() (invariant.State, error) {
	objects, _, err := r.cluster.Server(0).List(r.resource(), "")
	if err != nil {
		return nil, err
	}
	state := invariant.State{}
	for _, obj := range objects {
		if m := obj.(metav1.Object); r.selects(m) {
			state[object.Key{Namespace: m.GetNamespace(), Name: m.GetName()}] = invariant.Version{UID: m.GetUID(), RV: m.GetResourceVersion()}
		}
	}
	return state, nil
}

// rollback restores the state of n writes ago.
func (r *runner) rollback(n int) error {
	now, err := strconv.Atoi(r.cluster.ResourceVersion())
	if err != nil {
		return err
	}
	rv := strconv.Itoa(now - n)
	return r.checker.Write(func() error {
		if err := r.cluster.Rollback(rv); err != nil {
			return err
		}
		r.history.Rollback(rv)
		return nil
	})
}
