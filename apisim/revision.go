package apisim

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// revision is one write of one object. Everything but older is immutable once
// the revision is in the store; older is guarded by store.mu.
type revision struct {
	body
	rv        uint64
	key       string // "namespace/name", or "name" for a cluster-scoped object
	namespace string
	labels    labels.Set
	deleted   bool // body is the last stored object with the deletion's RV

	// older is the version that this write replaced; nil for a creation and
	// once this write has left the history window.
	older *revision

	fieldsOnce sync.Once
	fieldSet   fields.Set

	exitOnce sync.Once
	exitBody *body
}

// newRevision wraps an object that the store now owns. commit numbers it.
func newRevision(res *Resource, key string, obj runtime.Object) *revision {
	m := obj.(metav1.Object)
	return &revision{
		body:      body{res: res, obj: obj},
		key:       key,
		namespace: m.GetNamespace(),
		labels:    m.GetLabels(),
	}
}

func (r *revision) meta() metav1.Object { return r.obj.(metav1.Object) }

func (r *revision) fields() fields.Set {
	r.fieldsOnce.Do(func() { r.fieldSet = r.res.Fields(r.obj) })
	return r.fieldSet
}

// exit is what a watcher is sent when this write made the object leave its
// selector: the replaced object's content at this write's RV.
func (r *revision) exit(prev *revision) *body {
	r.exitOnce.Do(func() {
		obj := prev.obj.DeepCopyObject()
		obj.(metav1.Object).SetResourceVersion(formatRV(r.rv))
		r.exitBody = &body{res: r.res, obj: obj}
	})
	return r.exitBody
}

func formatRV(rv uint64) string { return strconv.FormatUint(rv, 10) }
