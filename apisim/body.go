package apisim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// encoding is a wire form of an object.
type encoding uint8

const (
	encJSON encoding = iota
	encProto
	encPartialJSON  // PartialObjectMetadata
	encPartialProto // PartialObjectMetadata
	numEncodings
)

func (e encoding) proto() bool   { return e == encProto || e == encPartialProto }
func (e encoding) partial() bool { return e == encPartialJSON || e == encPartialProto }

// protoMarshaler is what generated Kubernetes types offer.
type protoMarshaler interface {
	Size() int
	Marshal() ([]byte, error)
}

// body is one immutable form of an object with its encodings. Each encoding is
// made at most once, when first needed, and shared by lists, gets and watches.
//
// The cached bytes are the form inside a list: typed JSON without kind and
// apiVersion, protobuf without an envelope. The forms that stand alone differ
// by a fixed prefix and suffix only, so they share the bytes (see envelope.go).
type body struct {
	res *Resource
	obj runtime.Object
	enc [numEncodings]struct {
		once  sync.Once
		bytes []byte
		err   error
	}
}

// bytes returns the encoding; the caller must not change it.
func (b *body) bytes(e encoding) ([]byte, error) {
	c := &b.enc[e]
	c.once.Do(func() {
		c.bytes, c.err = b.encode(e)
		if c.err != nil {
			c.err = fmt.Errorf("encode %s: %w", b.res.groupResource(), c.err)
		}
	})
	return c.bytes, c.err
}

func (b *body) encode(e encoding) ([]byte, error) {
	switch e {
	case encJSON:
		if u, ok := b.obj.(*unstructured.Unstructured); ok {
			return marshalJSON(u.Object)
		}
		return marshalJSON(b.obj)
	case encProto:
		m, ok := b.obj.(protoMarshaler)
		if !ok {
			return nil, fmt.Errorf("%T has no protobuf form", b.obj)
		}
		return m.Marshal()
	case encPartialJSON:
		p := meta.AsPartialObjectMetadata(b.obj.(metav1.Object))
		p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		return marshalJSON(p)
	case encPartialProto:
		return meta.AsPartialObjectMetadata(b.obj.(metav1.Object)).Marshal()
	}
	return nil, fmt.Errorf("unknown encoding %d", e)
}

// marshalJSON returns exactly sized bytes without a final newline.
func marshalJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}
