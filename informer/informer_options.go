package informer

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InformerOption says which objects an informer has, and in which form. It is
// for [For] and [ForResource]; given to [NewFactory] it is what all requests
// begin with.
type InformerOption func(*wanted)

func (set InformerOption) applyTo(o *factoryOptions) { set(&o.wanted) }

// wanted is what a request asks for, beside the resource and the type.
type wanted struct {
	namespaces    []string // nil: all; empty isn't allowed
	labelSelector string
	fieldSelector string
	transform     function // nil: none
	filter        function // nil: none
}

// WithNamespace limits an informer to one namespace; "" is all of them.
// Built-in cluster-scoped resources are not affected.
func WithNamespace(namespace string) InformerOption {
	return func(w *wanted) {
		w.namespaces = nil
		if namespace != "" {
			w.namespaces = []string{namespace}
		}
	}
}

// WithNamespaces limits an informer to a set of namespaces, at least one. Each
// is listed and watched by itself, as [NewForNamespaces] says. The set is part
// of what a factory knows an informer by, so it can't be changed: that is for an
// informer of one's own. Built-in cluster-scoped resources are not affected.
func WithNamespaces(namespaces ...string) InformerOption {
	set := slices.Compact(append([]string{}, slices.Sorted(slices.Values(namespaces))...))
	return func(w *wanted) { w.namespaces = set }
}

// WithLabelSelector has the server send only objects with these labels. An
// object that stops matching is told as Deleted.
func WithLabelSelector(selector string) InformerOption {
	return func(w *wanted) { w.labelSelector = selector }
}

// WithFieldSelector has the server send only objects with these fields. Which
// fields a server can select by depends on the resource; see [Lister.List] for
// any others.
func WithFieldSelector(selector string) InformerOption {
	return func(w *wanted) { w.fieldSelector = selector }
}

// WithTransform has each object changed on its way in: less memory, or another
// form. T is that of the informer, or metav1.Object for one transform that does
// for every type. Nil is none. All who share an informer must give the same one.
func WithTransform[T metav1.Object](t *Transform[T]) InformerOption {
	return func(w *wanted) {
		w.transform = nil
		if t != nil {
			w.transform = t
		}
	}
}

// WithFilter keeps what doesn't pass out of the store: it is sent all the same.
// Where the server can select, have it do so. T and nil are as for
// [WithTransform]. All who share an informer must give the same one.
func WithFilter[T metav1.Object](f *Filter[T]) InformerOption {
	return func(w *wanted) {
		w.filter = nil
		if f != nil {
			w.filter = f
		}
	}
}
