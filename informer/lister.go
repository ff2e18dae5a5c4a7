package informer

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/indexer"
	"informer.example/object"
)

// Lister answers from the store what a client would ask the server. It never
// makes a request. A list is answered from one snapshot, in the API server's
// order. The objects are the store's own: copy one before changing it.
type Lister[T metav1.Object] struct {
	store    *indexer.Indexer[T]
	at       *indexer.Snapshot[T] // nil: the present
	ownKeys  bool                 // a KeyFunc of the user's
	resource schema.GroupResource // for NotFound
}

// NamespaceLister is a [Lister] for one namespace.
type NamespaceLister[T metav1.Object] struct {
	lister    Lister[T]
	namespace string
}

// Lister returns a lister over the informer's store.
func (i *Informer[T]) Lister() Lister[T] {
	return Lister[T]{store: i.store, ownKeys: i.opts.KeyFunc != nil, resource: i.opts.Resource}
}

// At returns a lister that answers everything from one snapshot of this
// informer, so that all its answers agree with each other, pages too.
func (l Lister[T]) At(s *indexer.Snapshot[T]) Lister[T] {
	l.at = s
	return l
}

// List returns the objects that the options select, nil if there are none.
//
//   - LabelSelector with all its operators.
//   - FieldSelector with any field path of T, as in
//     "status.phase=Running,spec.nodeName!=node-1". A path through a list or a
//     map holds when one of its values does, and "!=" when none does. Paths are
//     those of [indexer.CompileField].
//   - Limit returns the first so many. Who wants the rest too asks [Lister.Page],
//     which has the token for Continue.
//   - ResourceVersion: "" and "0" are the present. Any other version is the least
//     that will do: [ErrBehind] if the store is older, since a list does not wait.
//     With ResourceVersionMatch "Exact" it must be the store's own.
//
// A condition that an index was added for ([Informer.AddFieldIndexes],
// [Informer.AddLabelIndexes]) is answered from it, several from the smallest;
// [Lister.Explain] says how. The result is the same without.
//
// A selector that can't be read, a field that T or one of the objects doesn't
// have, and options that ask for anything else are a [*ListOptionsError]: they are
// not silently dropped. TimeoutSeconds and AllowWatchBookmarks mean nothing here.
func (l Lister[T]) List(opts metav1.ListOptions) ([]T, error) {
	return l.list("", opts)
}

// Get returns an object by its key. If there is none, the error is one that
// apierrors.IsNotFound knows, with the resource and name that a server's has.
func (l Lister[T]) Get(key object.Key) (T, error) {
	read := l.store.Item
	if l.at != nil {
		read = l.at.Item
	}
	item, ok := read(key)
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
	page, err := l.page(namespace, opts)
	return page.Items, err
}

func checkListOptions(opts metav1.ListOptions) error {
	unsupported := func(option string, value any) error {
		return &ListOptionsError{Option: option, Value: fmt.Sprint(value), Err: errNotFromStore}
	}
	switch {
	case opts.Limit < 0:
		return unsupported("Limit", opts.Limit)
	case opts.Watch:
		return unsupported("Watch", opts.Watch)
	case opts.SendInitialEvents != nil:
		return unsupported("SendInitialEvents", *opts.SendInitialEvents)
	case opts.ResourceVersionMatch != "" && opts.ResourceVersionMatch != metav1.ResourceVersionMatchExact &&
		opts.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan,
		opts.ResourceVersionMatch != "" && opts.ResourceVersion == "":
		return unsupported("ResourceVersionMatch", opts.ResourceVersionMatch)
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
