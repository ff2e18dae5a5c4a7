package reflector

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// openEnvelope finds the object in an envelope that lies in memory, without
// copying it.
func openEnvelope(raw []byte) (obj []byte, kind metav1.TypeMeta, err error) {
	msg, ok := bytes.CutPrefix(raw, []byte(protobufMagic))
	if !ok {
		return nil, kind, fmt.Errorf("%w: an object doesn't begin with %q", errProtobuf, protobufMagic)
	}
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return nil, kind, err
		}
		switch {
		case f.wire != wireBytes:
		case f.num == envelopeTypeMeta:
			if kind.APIVersion, kind.Kind, err = protoTypeMeta(f.bytes); err != nil {
				return nil, kind, err
			}
		case f.num == envelopeRaw:
			obj = f.bytes
		case (f.num == envelopeEncoding || f.num == envelopeType) && len(f.bytes) > 0:
			return nil, kind, fmt.Errorf("%w: unknown content encoding or type %.40q", errProtobuf, f.bytes)
		}
	}
	return obj, kind, nil
}

// protoTypeMeta reads the envelope's apiVersion and kind.
func protoTypeMeta(msg []byte) (apiVersion, kind string, err error) {
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return "", "", err
		}
		switch {
		case f.wire != wireBytes:
		case f.num == 1:
			apiVersion = string(f.bytes)
		case f.num == 2:
			kind = string(f.bytes)
		}
	}
	return apiVersion, kind, nil
}
