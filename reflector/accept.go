package reflector

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	typeJSON     = "application/json"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

// protobufObject is what Kubernetes' generated types have. An Unmarshal alone
// could mean anything: a struct that embeds ObjectMeta alone has that one's by
// promotion, and it would read the fields of a whole object as metadata.
type protobufObject interface {
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
	Size() int
}

// accept is the negotiation of the encoding. Servers that have no protobuf for
// a resource, such as for custom ones, fall to JSON by themselves.
type accept struct {
	protobuf    bool
	json        bool
	partial     bool // T is PartialObjectMetadata: only that is asked for
	canFallBack bool
}

// acceptFor settles what to ask for, from the type of an object.
func acceptFor(obj any, enc Encoding) (accept, error) {
	_, has := obj.(protobufObject)
	_, partial := obj.(*metav1.PartialObjectMetadata)
	switch enc {
	case EncodingAuto:
		return accept{protobuf: has, json: true, partial: partial, canFallBack: has}, nil
	case EncodingJSON:
		return accept{json: true, partial: partial}, nil
	case EncodingProtobuf:
		if !has {
			return accept{}, fmt.Errorf("%T has no protobuf form; use EncodingJSON or EncodingAuto", obj)
		}
		return accept{protobuf: true, partial: partial}, nil
	}
	return accept{}, fmt.Errorf("unknown encoding %d", enc)
}

// header is the Accept header of a request.
func (a accept) header(op string, jsonOnly bool) string {
	as := ""
	if a.partial {
		as = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
		if op == opList {
			as = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
		}
	}
	h := ""
	if a.protobuf && !jsonOnly {
		h = typeProtobuf + as
	}
	if a.json || jsonOnly {
		if h != "" {
			h += ","
		}
		h += typeJSON + as
		if a.partial {
			// A server that can't reduce objects sends them whole; what is
			// wanted of them is in there.
			h += "," + typeJSON
		}
	}
	return h
}
