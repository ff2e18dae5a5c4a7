package apisim

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// create stores obj, which it then owns.
func (s *Server) create(t *table, obj runtime.Object, from origin) (*revision, error) {
	if err := t.res.admitCreate(obj, from); err != nil {
		return nil, err
	}
	m := obj.(metav1.Object)
	next := newRevision(&t.res, objectKey(m.GetNamespace(), m.GetName()), obj)
	if !s.store.commit(t, change{rev: next}) {
		return nil, apierrors.NewAlreadyExists(t.res.groupResource(), m.GetName())
	}
	return next, nil
}

// change makes edit's result the successor of the object. edit gets the newest
// version, must not change it, and returns an object that change then owns; it
// runs again if another write comes between.
func (s *Server) change(t *table, namespace, name string, from origin, edit func(cur *revision) (runtime.Object, error)) (*revision, error) {
	key := objectKey(namespace, name)
	for {
		cur := s.store.get(t, key)
		if cur == nil {
			return nil, apierrors.NewNotFound(t.res.groupResource(), name)
		}
		obj, err := edit(cur)
		if err != nil {
			return nil, err
		}
		if m := obj.(metav1.Object); m.GetName() != name || m.GetNamespace() != namespace {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the object is %s, the request names %s", objectKey(m.GetNamespace(), m.GetName()), key))
		}
		changed, err := t.res.admitUpdate(cur, obj, from)
		if err != nil {
			return nil, err
		}
		next := newRevision(&t.res, key, obj)
		if m := next.meta(); m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 {
			next.deleted = true // the last finalizer is gone
		} else if !changed {
			return cur, nil
		}
		if s.store.commit(t, change{next, cur}) {
			return next, nil
		}
	}
}

// update replaces the object with obj, which it then owns.
func (s *Server) update(t *table, namespace, name string, obj runtime.Object, from origin) (*revision, error) {
	m := obj.(metav1.Object)
	rv, uid := m.GetResourceVersion(), m.GetUID()
	return s.change(t, namespace, name, from, func(cur *revision) (runtime.Object, error) {
		if from.status() {
			return t.res.withStatusOf(cur.obj, obj), nil
		}
		// An attempt that lost a race has left the preconditions of its own.
		m.SetResourceVersion(rv)
		m.SetUID(uid)
		return obj, nil
	})
}

// preconditions of a delete; empty means any.
type preconditions struct {
	uid types.UID
	rv  string
}

// remove deletes the object, or marks it if finalizers hold it. It returns the
// last version.
func (s *Server) remove(t *table, namespace, name string, pre preconditions) (*revision, error) {
	key := objectKey(namespace, name)
	for {
		cur := s.store.get(t, key)
		if cur == nil {
			return nil, apierrors.NewNotFound(t.res.groupResource(), name)
		}
		m := cur.meta()
		if pre.uid != "" && pre.uid != m.GetUID() {
			return nil, t.res.conflict(name, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", pre.uid, m.GetUID()))
		}
		if pre.rv != "" && pre.rv != m.GetResourceVersion() {
			return nil, t.res.conflict(name, fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", pre.rv, m.GetResourceVersion()))
		}
		next := newRevision(&t.res, key, cur.obj.DeepCopyObject())
		if len(m.GetFinalizers()) == 0 {
			next.deleted = true
		} else {
			if m.GetDeletionTimestamp() != nil {
				return cur, nil
			}
			at, grace := now(), int64(0)
			next.meta().SetDeletionTimestamp(&at)
			next.meta().SetDeletionGracePeriodSeconds(&grace)
		}
		if s.store.commit(t, change{next, cur}) {
			return next, nil
		}
	}
}
