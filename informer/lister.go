package informer

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"informer.example/indexer"
	"informer.example/object"
)

// Lister answers from the store what a client would ask the server. It never
// makes a request. A list is answered from one snapshot, in the API server's
// order. The objects are the store's own: copy one before changing it.
type Lister[T metav1.Object] struct {
	store    *indexer.Indexer[T]
	resource schema.GroupResource // for NotFound
}

// NamespaceLister is a [Lister] for one namespace.
type NamespaceLister[T metav1.Object] struct {
	lister    Lister[T]
	namespace string
}

// Lister returns a lister over the informer's store.
func (i *Informer[T]) Lister() Lister[T] {
	return Lister[T]{store: i.store, resource: i.opts.Resource}
}

// List returns the objects that the options select: LabelSelector, and
// FieldSelector with any field path of T, as in
// "status.phase=Running,spec.nodeName!=node-1". A path through a list or a
// map holds when one of its values does. Options that ask for anything else
// are a [*ListOptionsError]: they are not silently dropped.
func (l Lister[T]) List(opts metav1.ListOptions) ([]T, error) {
	return l.list("", opts)
}

// Get returns an object by its key. If there is none, the error is one that
// apierrors.IsNotFound knows, with the resource and name that a server's has.
func (l Lister[T]) Get(key object.Key) (T, error) {
	item, ok := l.store.Item(key)
	if !ok {
		err := apierrors.NewNotFound(l.resource, key.Name)
		err.ErrStatus.Message = fmt.Sprintf("%s %q not found", l.resource, key)
		return item.Object, err
	}
	return item.Object, nil
}

// Namespace returns the lister of one namespace.
func (l Lister[T]) Namespace(namespace string) NamespaceLister[T] {
	return NamespaceLister[T]{lister: l, namespace: namespace}
}

// List is [Lister.List] within the namespace. It reads no other one.
func (l NamespaceLister[T]) List(opts metav1.ListOptions) ([]T, error) {
	return l.lister.list(l.namespace, opts)
}

// Get returns an object of the namespace by its name.
func (l NamespaceLister[T]) Get(name string) (T, error) {
	return l.lister.Get(object.Key{Namespace: l.namespace, Name: name})
}

func (l Lister[T]) list(namespace string, opts metav1.ListOptions) ([]T, error) {
	match, err := compileSelector[T](opts)
	if err != nil {
		return nil, err
	}
	snapshot := l.store.Snapshot()
	objects := snapshot.All()
	if namespace != "" {
		objects = snapshot.Namespace(namespace)
	}
	var out []T
	for _, obj := range objects {
		ok, err := match(obj)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, obj)
		}
	}
	return out, nil
}

// compileSelector turns the options' selectors into one test.
func compileSelector[T metav1.Object](opts metav1.ListOptions) (func(T) (bool, error), error) {
	if err := checkListOptions(opts); err != nil {
		return nil, err
	}
	labelSelector, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, &ListOptionsError{Option: "LabelSelector", Value: opts.LabelSelector, Err: err}
	}
	fieldSelector, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return nil, &ListOptionsError{Option: "FieldSelector", Value: opts.FieldSelector, Err: err}
	}
	var terms []fieldTerm[T]
	for _, req := range fieldSelector.Requirements() {
		field, err := indexer.CompileField[T](req.Field)
		if err != nil {
			return nil, &ListOptionsError{Option: "FieldSelector", Value: opts.FieldSelector, Err: err}
		}
		terms = append(terms, fieldTerm[T]{field, req.Value, req.Operator != selection.NotEquals})
	}
	return func(obj T) (bool, error) {
		if !labelSelector.Empty() && !labelSelector.Matches(labels.Set(obj.GetLabels())) {
			return false, nil
		}
		for _, term := range terms {
			if ok, err := term.matches(obj); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}, nil
}

// fieldTerm is one condition of a field selector.
type fieldTerm[T metav1.Object] struct {
	field indexer.Field[T]
	value string
	equal bool // or not equal
}

// matches treats a field that is absent as the empty string, as the API
// server does.
func (t fieldTerm[T]) matches(obj T) (bool, error) {
	values, err := t.field.Values(obj)
	if err != nil {
		return false, err
	}
	found := len(values) == 0 && t.value == ""
	for _, v := range values {
		found = found || v == t.value
	}
	return found == t.equal, nil
}

func checkListOptions(opts metav1.ListOptions) error {
	unsupported := func(option string, value any) error {
		return &ListOptionsError{Option: option, Value: fmt.Sprint(value), Err: errNotFromStore}
	}
	switch {
	case opts.Limit != 0:
		return unsupported("Limit", opts.Limit)
	case opts.Continue != "":
		return unsupported("Continue", opts.Continue)
	case opts.Watch:
		return unsupported("Watch", opts.Watch)
	case opts.ResourceVersion != "" && opts.ResourceVersion != "0":
		return unsupported("ResourceVersion", opts.ResourceVersion)
	case opts.ShardSelector != "":
		return unsupported("ShardSelector", opts.ShardSelector)
	}
	return nil
}

var errNotFromStore = fmt.Errorf("a list from the store can't honour this option; leave it empty, or ask the server")

// ListOptionsError says which of the options of a list can't be used and why.
type ListOptionsError struct {
	Option, Value string
	Err           error
}

func (e *ListOptionsError) Error() string {
	return fmt.Sprintf("list option %s=%q: %v", e.Option, e.Value, e.Err)
}

func (e *ListOptionsError) Unwrap() error { return e.Err }
