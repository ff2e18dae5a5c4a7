package object

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Key names an object within one resource. Namespace is empty for
// cluster-scoped resources.
type Key struct {
	Namespace, Name string
}

// KeyFunc returns the key under which an object is stored. It must return the
// same key for every version of one object, and must not keep or change the
// object.
type KeyFunc[T metav1.Object] func(T) (Key, error)

// KeyOf is the default [KeyFunc]: the object's own namespace and name. It
// fails with a [*KeyError] for an object without a name.
func KeyOf[T metav1.Object](obj T) (Key, error) {
	k := Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if k.Name == "" {
		return Key{}, &KeyError{Input: k.String(), Reason: "the object has no metadata.name"}
	}
	return k, nil
}

// String returns "namespace/name", or "name" for a cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// ParseKey reads what [Key.String] writes.
func ParseKey(s string) (Key, error) {
	namespace, name, found := strings.Cut(s, "/")
	if !found {
		namespace, name = "", s
	}
	switch {
	case name == "":
		return Key{}, &KeyError{Input: s, Reason: "the name is empty"}
	case found && namespace == "":
		return Key{}, &KeyError{Input: s, Reason: "the namespace before the slash is empty"}
	case strings.Contains(name, "/"):
		return Key{}, &KeyError{Input: s, Reason: "more than one slash"}
	}
	return Key{Namespace: namespace, Name: name}, nil
}

// Compare orders keys as the API server does (O2): by the bytes of
// "namespace/name", which differs from comparing the namespaces first, since
// '-' and '.' sort before '/'.
func (k Key) Compare(other Key) int {
	if k.Namespace == other.Namespace {
		return cmp.Compare(k.Name, other.Name)
	}
	a, b := k.Namespace, other.Namespace
	n := min(len(a), len(b))
	if c := cmp.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	// One namespace is a proper prefix of the other: what follows the shorter
	// one is a slash (or, without a namespace, the name) against the rest of
	// the longer one. Rare enough to build the strings.
	if c := cmp.Compare(k.String(), other.String()); c != 0 {
		return c
	}
	return cmp.Compare(len(a), len(b)) // O1: {"", "a/b"} is not {"a", "b"}
}

// KeyError says why an object or a string has no key.
type KeyError struct {
	Input  string // what was given, as far as it is known
	Reason string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("key %q: %s; want \"namespace/name\", or \"name\" for a cluster-scoped object", e.Input, e.Reason)
}
