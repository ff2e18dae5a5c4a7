package reflector

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// identity is what can be read of an object without decoding it. Its bytes are
// those of the object where that is possible, and lent for as long.
type identity struct {
	namespace, name  []byte
	uid              []byte
	resourceVersion  []byte
	initialEventsEnd bool // it is the bookmark that ends the initial events
}

var errNameless = errors.New("it has no metadata.name")

// peek reads an object's identity off its bytes.
func peek(raw []byte, enc encoding) (identity, error) {
	if enc == encProtobuf {
		return peekProto(raw)
	}
	return peekJSON(raw)
}

func (id *identity) key() object.Key {
	return object.Key{Namespace: string(id.namespace), Name: string(id.name)}
}

// same reports whether an item is this very version of this very object.
// Without a UID, and a version that means something, that can't be known.
func (id *identity) same(uid types.UID, resourceVersion string) bool {
	return len(id.uid) > 0 && string(id.uid) == string(uid) &&
		string(id.resourceVersion) == resourceVersion && wellFormed(resourceVersion)
}
