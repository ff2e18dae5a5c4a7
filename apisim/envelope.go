package apisim

import (
	"encoding/binary"
	"math/bits"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The protobuf wire form, as apimachinery's runtime.Unknown and WatchEvent
// define it. Every field used here is length-delimited (wire type 2), so a tag
// is number<<3 | 2.
const (
	protoMagic = "k8s\x00"

	tagUnknownTypeMeta = 1<<3 | 2 // runtime.Unknown.typeMeta
	tagUnknownRaw      = 2<<3 | 2 // runtime.Unknown.raw
	tagTypeAPIVersion  = 1<<3 | 2 // runtime.TypeMeta.apiVersion
	tagTypeKind        = 2<<3 | 2 // runtime.TypeMeta.kind
	tagListMeta        = 1<<3 | 2 // XList.metadata
	tagListItems       = 2<<3 | 2 // XList.items
	tagEventType       = 1<<3 | 2 // WatchEvent.type
	tagEventObject     = 2<<3 | 2 // WatchEvent.object
	tagRaw             = 1<<3 | 2 // runtime.RawExtension.raw

	// contentEncoding and contentType, both written empty.
	unknownTrailer = "\x1a\x00\x22\x00"
)

func varintLen(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// fieldLen is the size of a length-delimited field with n bytes of content.
func fieldLen(n int) int { return 1 + varintLen(n) + n }

func appendField(b []byte, tag byte, n int) []byte {
	return binary.AppendUvarint(append(b, tag), uint64(n))
}

// envelope is the fixed text around a stand-alone object of one kind.
type envelope struct {
	apiVersion, kind string
	spliceKind       bool // the cached JSON has no kind and apiVersion
}

func (r *Resource) envelope(e encoding) envelope {
	if e == encTable {
		return envelope{} // a table is made whole
	}
	if e.partial() {
		return envelope{apiVersion: metav1.SchemeGroupVersion.String(), kind: "PartialObjectMetadata"}
	}
	return envelope{apiVersion: r.apiVersion(), kind: r.Kind, spliceKind: r.typed()}
}

// appendJSON appends the stand-alone JSON form of an object to b.
func (v envelope) appendJSON(b, object []byte) []byte {
	if !v.spliceKind {
		return append(b, object...)
	}
	b = append(b, `{"kind":"`...)
	b = append(b, v.kind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, v.apiVersion...)
	b = append(b, '"')
	if len(object) > 2 { // not {}
		b = append(b, ',')
	}
	return append(b, object[1:]...)
}

// protoLen is the length of the stand-alone protobuf form of n bytes.
func (v envelope) protoLen(n int) int {
	return len(protoMagic) + fieldLen(v.typeMetaLen()) + fieldLen(n) + len(unknownTrailer)
}

func (v envelope) typeMetaLen() int { return fieldLen(len(v.apiVersion)) + fieldLen(len(v.kind)) }

// appendProtoHead appends everything before the n bytes of the object itself;
// unknownTrailer follows them.
func (v envelope) appendProtoHead(b []byte, n int) []byte {
	b = append(b, protoMagic...)
	b = appendField(b, tagUnknownTypeMeta, v.typeMetaLen())
	b = append(appendField(b, tagTypeAPIVersion, len(v.apiVersion)), v.apiVersion...)
	b = append(appendField(b, tagTypeKind, len(v.kind)), v.kind...)
	return appendField(b, tagUnknownRaw, n)
}

func (v envelope) appendProto(b, object []byte) []byte {
	b = append(v.appendProtoHead(b, len(object)), object...)
	return append(b, unknownTrailer...)
}

// append appends the stand-alone form in the encoding.
func (v envelope) append(b []byte, e encoding, object []byte) []byte {
	if e.proto() {
		return v.appendProto(b, object)
	}
	return v.appendJSON(b, object)
}

// appendFrame appends one watch event. JSON frames are objects ended by a
// newline; protobuf frames are a big-endian length and a bare WatchEvent whose
// object is a full envelope.
func (v envelope) appendFrame(b []byte, e encoding, typ string, object []byte) []byte {
	if !e.proto() {
		b = append(b, `{"type":"`...)
		b = append(b, typ...)
		b = append(b, `","object":`...)
		return append(v.appendJSON(b, object), "}\n"...)
	}
	raw := v.protoLen(len(object))
	n := fieldLen(len(typ)) + fieldLen(fieldLen(raw))
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = append(appendField(b, tagEventType, len(typ)), typ...)
	b = appendField(b, tagEventObject, fieldLen(raw))
	b = appendField(b, tagRaw, raw)
	return v.appendProto(b, object)
}
