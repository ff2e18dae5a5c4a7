package informer

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transform is a named function that changes objects on their way in; see
// [WithTransform]. Functions can't be compared, so a Transform stands for one:
// two requests have the same transform when they give the same *Transform.
// Make it once, and share it.
type Transform[T metav1.Object] struct {
	name string
	call func(T) (T, error)
}

// NewTransform makes a transform. call is called exactly once for each object
// received, before anything else sees it, by several goroutines at once. It may
// change the object or return another. An error, or nil, quarantines the object:
// it is reported in Status and neither stored nor taken for deleted. The key,
// UID and resourceVersion are kept beside the object, so call may strip them.
//
// The name stands in errors.
func NewTransform[T metav1.Object](name string, call func(T) (T, error)) *Transform[T] {
	return &Transform[T]{name: name, call: call}
}

// Filter is a named condition on objects; see [WithFilter]. Like a [Transform]
// it is made once and shared.
type Filter[T metav1.Object] struct {
	name string
	keep func(T) bool
}

// NewFilter makes a filter that lets pass what keep returns true for. keep is
// used as [Options.Keep] is, after the transform, and by several goroutines at
// once. The name stands in errors.
func NewFilter[T metav1.Object](name string, keep func(T) bool) *Filter[T] {
	return &Filter[T]{name: name, keep: keep}
}

// function is a *Transform or *Filter of any T.
type function interface {
	label() string
	object() reflect.Type
}

func (t *Transform[T]) label() string        { return t.name }
func (f *Filter[T]) label() string           { return f.name }
func (t *Transform[T]) object() reflect.Type { return reflect.TypeFor[T]() }
func (f *Filter[T]) object() reflect.Type    { return reflect.TypeFor[T]() }

// transformFor returns what a transform of T, or of every object, does to a T.
func transformFor[T metav1.Object](f function) (func(T) (T, error), error) {
	switch t := f.(type) {
	case nil:
		return nil, nil
	case *Transform[T]:
		return t.call, nil
	case *Transform[metav1.Object]:
		return func(obj T) (T, error) {
			var none T
			changed, err := t.call(obj)
			if err != nil || changed == nil {
				return none, err
			}
			same, ok := changed.(T)
			if !ok {
				return none, fmt.Errorf("transform %q returned a %T, not a %T", t.name, changed, obj)
			}
			return same, nil
		}, nil
	}
	return nil, misfit[T]("transform", f)
}

// filterFor is transformFor for filters.
func filterFor[T metav1.Object](f function) (func(T) bool, error) {
	switch t := f.(type) {
	case nil:
		return nil, nil
	case *Filter[T]:
		return t.keep, nil
	case *Filter[metav1.Object]:
		return func(obj T) bool { return t.keep(obj) }, nil
	}
	return nil, misfit[T]("filter", f)
}

func misfit[T metav1.Object](kind string, f function) error {
	return fmt.Errorf("informer: %s %q is for %v, and the informer is of %v: give it to For, for the informers of its type alone, or make it for metav1.Object",
		kind, f.label(), f.object(), reflect.TypeFor[T]())
}
