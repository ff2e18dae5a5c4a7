package apisim

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// origin says who writes: rules about what a client may set bind requests only.
type origin uint8

const (
	direct       origin = iota // a Go caller of Server
	directStatus               // of UpdateStatus
	byHTTP
	byHTTPStatus // the /status subresource
)

func (o origin) http() bool   { return o >= byHTTP }
func (o origin) status() bool { return o == directStatus || o == byHTTPStatus }

// maxGeneratedBase leaves room for the suffix in a name of 63 bytes.
const maxGeneratedBase = 58

// admitCreate completes a new object, which the caller owns, or refuses it.
func (r *Resource) admitCreate(obj runtime.Object, from origin) error {
	m := obj.(metav1.Object)
	if m.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if m.GetName() == "" && m.GetGenerateName() != "" {
		base := m.GetGenerateName()
		m.SetName(base[:min(len(base), maxGeneratedBase)] + rand.String(5))
	}
	if err := r.validateMeta(m); err != nil {
		return err
	}
	m.SetUID(uuid.NewUUID())
	m.SetCreationTimestamp(now())
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	if r.Generation {
		m.SetGeneration(1)
	}
	if r.StatusSubresource && from == byHTTP {
		r.copyStatus(obj, r.newObject())
		if r.initialStatus != nil {
			r.initialStatus(obj)
		}
	}
	return nil
}

func (r *Resource) validateMeta(m metav1.Object) error {
	var errs field.ErrorList
	at := field.NewPath("metadata")
	if m.GetName() == "" {
		errs = append(errs, field.Required(at.Child("name"), "name or generateName is required"))
	}
	for _, msg := range content.IsPathSegmentName(m.GetName()) {
		errs = append(errs, field.Invalid(at.Child("name"), m.GetName(), msg))
	}
	switch ns := m.GetNamespace(); {
	case r.Namespaced && ns == "":
		errs = append(errs, field.Required(at.Child("namespace"), ""))
	case !r.Namespaced && ns != "":
		errs = append(errs, field.Forbidden(at.Child("namespace"), "not allowed on this type"))
	default:
		for _, msg := range content.IsPathSegmentName(ns) {
			errs = append(errs, field.Invalid(at.Child("namespace"), ns, msg))
		}
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(r.GVK().GroupKind(), m.GetName(), errs)
	}
	return nil
}

// admitUpdate turns next, which the caller owns, into the successor of cur, or
// refuses it. It reports whether the result differs from cur.
func (r *Resource) admitUpdate(cur *revision, next runtime.Object, from origin) (changed bool, err error) {
	was, m := cur.meta(), next.(metav1.Object)
	switch rv := m.GetResourceVersion(); {
	case rv == "" && from.http() && !r.typed():
		return false, apierrors.NewInvalid(r.GVK().GroupKind(), m.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	case rv != "" && rv != was.GetResourceVersion():
		return false, r.conflict(m.GetName(), "the object has been modified; please apply your changes to the latest version and try again")
	}
	if uid := m.GetUID(); uid != "" && uid != was.GetUID() {
		return false, r.conflict(m.GetName(), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, was.GetUID()))
	}

	m.SetUID(was.GetUID())
	m.SetResourceVersion(was.GetResourceVersion())
	m.SetCreationTimestamp(was.GetCreationTimestamp())
	m.SetDeletionTimestamp(was.GetDeletionTimestamp())
	m.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	m.SetGeneration(was.GetGeneration())
	if r.StatusSubresource && from == byHTTP {
		r.copyStatus(next, cur.obj)
	}
	if r.Generation && !sameSpec(cur.obj, next) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
	return !sameObject(cur.obj, next), nil
}

func (r *Resource) conflict(name, msg string) error {
	return apierrors.NewConflict(r.groupResource(), name, fmt.Errorf("%s", msg))
}

// withStatusOf returns a copy of cur whose status and preconditions are those
// of obj.
func (r *Resource) withStatusOf(cur, obj runtime.Object) runtime.Object {
	next := cur.DeepCopyObject()
	m, given := next.(metav1.Object), obj.(metav1.Object)
	m.SetResourceVersion(given.GetResourceVersion())
	m.SetUID(given.GetUID())
	r.copyStatus(next, obj)
	return next
}

// copyStatus gives dst the status of src; both are owned or immutable copies,
// so the status may be shared.
func (r *Resource) copyStatus(dst, src runtime.Object) {
	if u, ok := dst.(*unstructured.Unstructured); ok {
		if status, ok := src.(*unstructured.Unstructured).Object["status"]; ok {
			u.Object["status"] = status
		} else {
			delete(u.Object, "status")
		}
		return
	}
	if f := reflect.ValueOf(dst).Elem().FieldByName("Status"); f.IsValid() {
		f.Set(reflect.ValueOf(src).Elem().FieldByName("Status"))
	}
}

// sameObject compares two stored forms; an update that changes nothing is not
// written.
func sameObject(a, b runtime.Object) bool {
	if pa, ok := a.(protoMarshaler); ok {
		return sameWire(pa, b.(protoMarshaler))
	}
	return equality.Semantic.DeepEqual(a, b)
}

// sameWire compares what would be stored, as the real server does. It costs a
// few microseconds where comparing the Go values costs ten times that.
func sameWire(a, b protoMarshaler) bool {
	if a.Size() != b.Size() {
		return false
	}
	ba, errA := a.Marshal()
	bb, errB := b.Marshal()
	return errA == nil && errB == nil && bytes.Equal(ba, bb)
}

// sameSpec compares everything but type, metadata and status.
func sameSpec(a, b runtime.Object) bool {
	if ua, ok := a.(*unstructured.Unstructured); ok {
		return equality.Semantic.DeepEqual(specOf(ua), specOf(b.(*unstructured.Unstructured)))
	}
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range va.NumField() {
		switch va.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
			continue
		}
		pa, ok := va.Field(i).Addr().Interface().(protoMarshaler)
		same := ok && sameWire(pa, vb.Field(i).Addr().Interface().(protoMarshaler)) ||
			!ok && equality.Semantic.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface())
		if !same {
			return false
		}
	}
	return true
}

func specOf(u *unstructured.Unstructured) map[string]any {
	m := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		switch k {
		case "apiVersion", "kind", "metadata", "status":
		default:
			m[k] = v
		}
	}
	return m
}

// now has the precision of the wire, so that a stored object equals its decoded
// form.
func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }

// objectKey is the storage key; the API server's order is the byte order of it.
func objectKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func splitKey(key string) (namespace, name string) {
	if ns, n, ok := strings.Cut(key, "/"); ok {
		return ns, n
	}
	return "", key
}
