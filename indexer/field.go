package indexer

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field reads the values at one path of an object. Compiled once by
// [CompileField]; safe for concurrent use.
type Field[T metav1.Object] struct {
	path string
	read func(obj T, dst []string) ([]string, error)
}

// schemaless is an object whose schema is not known to the program, such as
// *unstructured.Unstructured.
type schemaless interface{ UnstructuredContent() map[string]any }

// CompileField finds a path in T. The steps are the names of JSON, with dots
// between them:
//
//	status.podIP
//	spec.containers.image                        every element of a list
//	metadata.labels.app                          a key of a map
//	metadata.labels[app.kubernetes.io/name]      a key that has dots
//
// The path must end at single values: strings, numbers, booleans, or types
// that marshal to one, such as times and quantities. What T doesn't have is a
// [*FieldError]. If T has no schema (*unstructured.Unstructured), any
// well-formed path will do.
func CompileField[T metav1.Object](path string) (Field[T], error) {
	typ := reflect.TypeFor[T]()
	fail := func(err *FieldError) (Field[T], error) {
		err.Type, err.Path = typ.String(), path
		return Field[T]{}, err
	}
	steps, err := parsePath(path)
	if err != nil {
		return fail(err)
	}
	if typ.Implements(reflect.TypeFor[schemaless]()) {
		return Field[T]{path, func(obj T, dst []string) ([]string, error) {
			if isNil(obj) {
				return dst, nil
			}
			u, _ := any(obj).(schemaless)
			vals, err := walkContent(u.UnstructuredContent(), steps, 0, dst)
			return vals, complete(err, typ, path)
		}}, nil
	}
	if typ.Kind() == reflect.Interface {
		return fail(&FieldError{Reason: "an interface has no fields; use the type of the objects"})
	}
	typed, err := compileSteps(typ, steps)
	if err != nil {
		return fail(err)
	}
	return Field[T]{path, func(obj T, dst []string) ([]string, error) {
		vals, err := typed.read(reflect.ValueOf(obj), typed.ways, dst)
		return vals, complete(err, typ, path)
	}}, nil
}

// Path is what the field was compiled from.
func (f Field[T]) Path() string { return f.path }

// Values returns what obj has at the path, in the object's order, as JSON
// would write it, without quotes. A path that ends in nothing has no values:
// nil pointers, missing keys, empty lists, and empty strings, which can't be
// told from strings that were not set.
func (f Field[T]) Values(obj T) ([]string, error) { return f.AppendValues(nil, obj) }

// AppendValues appends to dst what Values returns. With room in dst, reading a
// string allocates nothing.
func (f Field[T]) AppendValues(dst []string, obj T) ([]string, error) {
	if f.read == nil {
		return nil, &FieldError{Type: reflect.TypeFor[T]().String(), Reason: "the field was not made by CompileField"}
	}
	return f.read(obj, dst)
}

// FieldError says why a path leads nowhere.
type FieldError struct {
	Type   string   // of the object
	Path   string   // as given
	At     string   // the part of the path up to the step at fault; may be empty
	Reason string   // what is wrong there
	Known  []string // the steps that would be possible there, in order, if known
}

func (e *FieldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "field path %q of %s", e.Path, e.Type)
	if e.At != "" && e.At != e.Path {
		fmt.Fprintf(&b, ", at %q", e.At)
	}
	fmt.Fprintf(&b, ": %s", e.Reason)
	if len(e.Known) > 0 {
		fmt.Fprintf(&b, "; there are %s", strings.Join(e.Known, ", "))
	}
	return b.String()
}

// complete adds what a walk doesn't know, and makes a nil *FieldError a nil
// error.
func complete(err *FieldError, typ reflect.Type, path string) error {
	if err == nil {
		return nil
	}
	err.Type, err.Path = typ.String(), path
	return err
}

// parsePath divides a path into its steps.
func parsePath(path string) ([]string, *FieldError) {
	if path == "" {
		return nil, &FieldError{Reason: "the path is empty; want steps with dots between them, such as status.podIP"}
	}
	var steps []string
	rest := path
	for {
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			return nil, &FieldError{At: path[:len(path)-len(rest)], Reason: "a step is empty"}
		}
		steps, rest = append(steps, rest[:n]), rest[n:]
		for strings.HasPrefix(rest, "[") {
			n := strings.IndexByte(rest, ']')
			if n < 0 {
				return nil, &FieldError{At: path[:len(path)-len(rest)], Reason: "a bracket is not closed"}
			}
			if n == 1 {
				return nil, &FieldError{At: path[:len(path)-len(rest)], Reason: "the brackets are empty; they hold the key of a map, and every element of a list is taken without them"}
			}
			steps, rest = append(steps, rest[1:n]), rest[n+1:]
		}
		if rest == "" {
			return steps, nil
		}
		if rest[0] != '.' {
			return nil, &FieldError{At: path[:len(path)-len(rest)], Reason: "want a dot after a closing bracket"}
		}
		rest = rest[1:]
	}
}
