package indexer

import (
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SimpleIndex indexes by one value; "" leaves the object out.
func SimpleIndex[T metav1.Object](f func(T) string) IndexFunc[T] {
	var one singles
	return func(obj T) ([]string, error) {
		if v := f(obj); v != "" {
			return one.of(v), nil
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

// singles cuts slices of one value off a common array. Index functions are
// asked at every event, and most answer with one value: this way that costs one
// allocation in many calls. Safe for concurrent use; the zero value is ready.
type singles struct{ block atomic.Pointer[singlesBlock] }

type singlesBlock struct {
	taken  atomic.Uint32
	values [64]string
}

func (s *singles) of(v string) []string {
	if b := s.block.Load(); b != nil {
		if n := int(b.taken.Add(1)); n <= len(b.values) {
			b.values[n-1] = v
			return b.values[n-1 : n : n]
		}
	}
	b := &singlesBlock{}
	b.taken.Store(1)
	b.values[0] = v
	s.block.Store(b) // where two do so at once, the rest of one is lost
	return b.values[:1:1]
}
