package indexer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SimpleIndex indexes by one value; "" leaves the object out.
func SimpleIndex[T metav1.Object](f func(T) string) IndexFunc[T] {
	return func(obj T) ([]string, error) {
		if v := f(obj); v != "" {
			return []string{v}, nil
		}
		return nil, nil
	}
}

// KeyIndex indexes by metadata.name: it finds objects of one name in all
// namespaces. For one namespace, or one object, no index is needed: see
// [Snapshot.Namespace] and [Indexer.GetByKey].
func KeyIndex[T metav1.Object]() IndexFunc[T] {
	return SimpleIndex(func(obj T) string { return obj.GetName() })
}

// FieldIndex indexes by every value that [Field.Values] finds at a path, such
// as "status.podIP". A path that T doesn't have is a [*FieldError]. For a path
// that stands in the source, put [Must] around it. For an index that field
// selectors use by themselves, see [Indexer.AddFieldIndexes].
func FieldIndex[T metav1.Object](path string) (IndexFunc[T], error) {
	f, err := CompileField[T](path)
	if err != nil {
		return nil, err
	}
	return f.Values, nil
}

// Must returns f, and panics if there is an error. It is for the map literals
// that a program starts with:
//
//	indexer.Indexers[*corev1.Pod]{
//		"byIP": indexer.Must(indexer.FieldIndex[*corev1.Pod]("status.podIP")),
//	}
//
// Never use it on a path that comes from outside of the program.
func Must[T metav1.Object](f IndexFunc[T], err error) IndexFunc[T] {
	if err != nil {
		panic(err)
	}
	return f
}
