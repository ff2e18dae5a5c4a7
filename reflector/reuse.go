package reflector

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Stored finds what is stored under a key. It is called while an answer is
// read, and must be quick.
type Stored[T metav1.Object] func(object.Key) (object.Item[T], bool)

// Reuser is a [Source] that need not decode what its caller has already.
// [HTTPSource] is one.
type Reuser[T metav1.Object] interface {
	Source[T]
	// Reusing returns the same source, but one that yields the stored item
	// for an object that is stored in the very version that the server sends:
	// with the same UID, and the same resourceVersion, one that can be
	// compared. Such an object is neither decoded nor transformed again.
	//
	// Begin is called at the start of each list page and each watch-list, and
	// may return nil if nothing is stored.
	Reusing(begin func() Stored[T]) Source[T]
}

// Reusing implements [Reuser]. With a KeyFunc of one's own nothing is reused:
// the key is known only once the object is decoded.
func (s *HTTPSource[T]) Reusing(begin func() Stored[T]) Source[T] {
	c := *s
	c.begin = begin
	return &c
}

// reuse looks for what is stored while the objects of one answer are read. The
// zero value finds nothing.
type reuse[T metav1.Object] struct {
	stored    Stored[T]
	json      jsonPeeker
	namespace string // of the object before: mostly it is the same again
}

func (s *HTTPSource[T]) reuse() reuse[T] {
	if s.begin == nil || s.objects.ownKeys {
		return reuse[T]{}
	}
	return reuse[T]{stored: s.begin()}
}

// find returns the stored item if it is what the bytes stand for.
func (r *reuse[T]) find(raw []byte, enc encoding) (it object.Item[T], ok bool) {
	if r.stored == nil {
		return it, false
	}
	var id identity
	var err error
	if enc == encProtobuf {
		id, err = peekProto(raw)
	} else {
		id, err = r.json.identity(raw, true)
	}
	if err != nil || len(id.name) == 0 {
		return it, false // the decoder will say why
	}
	if r.namespace != string(id.namespace) {
		r.namespace = string(id.namespace)
	}
	it, ok = r.stored(object.Key{Namespace: r.namespace, Name: string(id.name)})
	if !ok || !id.same(it.UID, it.ResourceVersion) {
		return object.Item[T]{}, false
	}
	return it, true
}
