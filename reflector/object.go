package reflector

import (
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// objectDecoder turns an object's bytes into an item: decode, read the
// identity, transform.
type objectDecoder[T metav1.Object] struct {
	newT      func() T
	keyFunc   object.KeyFunc[T]
	ownKeys   bool // keyFunc isn't the default
	transform func(T) (T, error)
}

func newObjectDecoder[T metav1.Object](newT func() T, keyFunc object.KeyFunc[T], transform func(T) (T, error)) objectDecoder[T] {
	d := objectDecoder[T]{newT: newT, keyFunc: keyFunc, ownKeys: keyFunc != nil, transform: transform}
	if keyFunc == nil {
		d.keyFunc = object.KeyOf[T]
	}
	return d
}

// decode returns the item, or one that lacks its Object and bad, the reason;
// err means that not even its identity could be read. The list's TypeMeta is
// what an item of an Unstructured list may lack.
func (d *objectDecoder[T]) decode(raw []byte, enc encoding, list metav1.TypeMeta) (it object.Item[T], bad, err error) {
	obj, bad := d.unmarshal(raw, enc)
	if bad != nil {
		if text := bad.Error(); len(text) > longestText {
			bad = errors.New(printable(text)) // R11: it quotes what a server sent
		}
		it, err := d.unread(raw, enc, bad)
		return it, bad, err
	}
	settleTypeMeta(obj, list)
	if obj.GetName() == "" {
		return it, nil, &DecodeError{Err: errNameless}
	}
	// Before the transform: it may strip what identifies the object.
	if it, err = object.NewItem(obj, d.keyFunc); err != nil {
		return it, nil, &DecodeError{Err: err}
	}
	if d.transform == nil {
		return it, nil, nil
	}
	var none T
	it.Object, err = d.transform(obj)
	switch {
	case err != nil:
		bad = fmt.Errorf("transform: %w", err)
	case any(it.Object) == any(none):
		bad = errors.New("transform: it returned nil")
	}
	if bad != nil {
		it.Object = none
	}
	return it, bad, nil
}

// unread is the item of an object that couldn't be decoded.
func (d *objectDecoder[T]) unread(raw []byte, enc encoding, bad error) (it object.Item[T], err error) {
	id, err := peek(raw, enc)
	switch {
	case err != nil:
		return it, &DecodeError{Err: bad}
	case len(id.name) == 0:
		return it, &DecodeError{Err: errNameless}
	case d.ownKeys:
		return it, &DecodeError{Err: fmt.Errorf("%.300s: %w (and its key can't be known without it)", id.key(), bad)}
	}
	it.Key, it.UID, it.ResourceVersion = id.key(), types.UID(id.uid), string(id.resourceVersion)
	return it, nil
}

func (d *objectDecoder[T]) unmarshal(raw []byte, enc encoding) (T, error) {
	if enc == encJSON {
		return decodeJSON(raw, d.newT, jsonTarget)
	}
	obj := d.newT()
	p, ok := any(obj).(protobufObject)
	if !ok {
		return obj, fmt.Errorf("the server sent protobuf, which %T can't read", obj)
	}
	if tooDeep(raw, maxDepth) {
		return obj, fmt.Errorf("%w: nested deeper than %d", errProtobuf, maxDepth)
	}
	return obj, p.Unmarshal(raw)
}

// jsonTarget is where an object's JSON goes: not through Unstructured's own
// UnmarshalJSON, which parses twice.
func jsonTarget[T any](obj T) any {
	if u, ok := any(obj).(*unstructured.Unstructured); ok {
		return &u.Object
	}
	return obj
}

// settleTypeMeta makes an object's kind and apiVersion the same however it
// came. Typed objects have none: it is their Go type that says it. An
// Unstructured always has them, if need be from its list.
func settleTypeMeta(obj any, list metav1.TypeMeta) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		if o.GetKind() == "" && o.GetAPIVersion() == "" {
			o.SetKind(strings.TrimSuffix(list.Kind, "List"))
			o.SetAPIVersion(list.APIVersion)
		}
	case interface{ GetObjectKind() schema.ObjectKind }:
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
}
