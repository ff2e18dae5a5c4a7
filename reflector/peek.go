package reflector

import (
	"errors"

	"github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// identity is what can be read of an object without decoding it.
type identity struct {
	key              object.Key
	uid              types.UID
	resourceVersion  string
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

func peekJSON(raw []byte) (identity, error) {
	var o struct {
		Metadata struct {
			Name            string    `json:"name"`
			Namespace       string    `json:"namespace"`
			UID             types.UID `json:"uid"`
			ResourceVersion string    `json:"resourceVersion"`
			Annotations     struct {
				End string `json:"k8s.io/initial-events-end"`
			} `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &o, jsonObjects); err != nil {
		return identity{}, err
	}
	m := &o.Metadata
	return identity{
		key:              object.Key{Namespace: m.Namespace, Name: m.Name},
		uid:              m.UID,
		resourceVersion:  m.ResourceVersion,
		initialEventsEnd: m.Annotations.End == "true",
	}, nil
}

// The fields of ObjectMeta, which is field 1 of every object.
const (
	objectMetadata  = 1
	metaName        = 1
	metaNamespace   = 3
	metaUID         = 5
	metaVersion     = 6
	metaAnnotations = 12
)

func peekProto(msg []byte) (id identity, err error) {
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return id, err
		}
		if f.num == objectMetadata && f.wire == wireBytes {
			if err := id.readMeta(f.bytes); err != nil {
				return id, err
			}
		}
	}
	return id, nil
}

func (id *identity) readMeta(msg []byte) (err error) {
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return err
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.num {
		case metaName:
			id.key.Name = string(f.bytes)
		case metaNamespace:
			id.key.Namespace = string(f.bytes)
		case metaUID:
			id.uid = types.UID(f.bytes)
		case metaVersion:
			id.resourceVersion = string(f.bytes)
		case metaAnnotations:
			if id.initialEventsEnd, err = endsInitial(f.bytes, id.initialEventsEnd); err != nil {
				return err
			}
		}
	}
	return nil
}

// endsInitial reads one annotation, a map entry of key and value.
func endsInitial(entry []byte, before bool) (bool, error) {
	var key, value string
	for len(entry) > 0 {
		f, rest, err := nextField(entry)
		if err != nil {
			return before, err
		}
		switch {
		case f.wire != wireBytes:
		case f.num == 1:
			key = string(f.bytes)
		case f.num == 2:
			value = string(f.bytes)
		}
		entry = rest
	}
	if key == metav1.InitialEventsAnnotationKey {
		return value == "true", nil
	}
	return before, nil
}
