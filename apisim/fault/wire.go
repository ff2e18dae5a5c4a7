package fault

import (
	"encoding/binary"
	"errors"
)

// The protobuf wire form, as apimachinery's runtime.Unknown, WatchEvent and the
// lists define it. Every field used here is length-delimited.

const (
	magic   = "k8s\x00"
	trailer = "\x1a\x00\x22\x00" // contentEncoding and contentType, empty
)

var errWire = errors.New("not protobuf")

// field appends a length-delimited field.
func field(b []byte, number int, content []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// envelope is the stand-alone form of an object.
func envelope(apiVersion, kind string, object []byte) []byte {
	typeMeta := field(field(nil, 1, []byte(apiVersion)), 2, []byte(kind))
	return append(field(field([]byte(magic), 1, typeMeta), 2, object), trailer...)
}

// eachField calls visit with the fields of a message, in order. content is nil
// for a field that isn't length-delimited. start and end are its place in b.
func eachField(b []byte, visit func(number int, content []byte, start, end int)) error {
	for at := 0; at < len(b); {
		start := at
		tag, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return errWire
		}
		at += n
		var content []byte
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(b[at:]); n <= 0 {
				return errWire
			}
			at += n
		case 1:
			at += 8
		case 2:
			length, n := binary.Uvarint(b[at:])
			if n <= 0 || length > uint64(len(b)-at-n) {
				return errWire
			}
			at += n
			content = b[at : at+int(length) : at+int(length)]
			at += int(length)
		case 5:
			at += 4
		default:
			return errWire
		}
		if at > len(b) {
			return errWire
		}
		visit(int(tag>>3), content, start, at)
	}
	return nil
}

// only returns the content of the message's last field with the number.
func only(b []byte, number int) ([]byte, error) {
	var found []byte
	err := eachField(b, func(n int, content []byte, _, _ int) {
		if n == number {
			found = content
		}
	})
	return found, err
}

// opened returns what is in a stand-alone form.
func opened(b []byte) (apiVersion, kind string, object []byte, err error) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return "", "", nil, errWire
	}
	var typeMeta []byte
	err = eachField(b[len(magic):], func(n int, content []byte, _, _ int) {
		switch n {
		case 1:
			typeMeta = content
		case 2:
			object = content
		}
	})
	if err != nil {
		return "", "", nil, err
	}
	err = eachField(typeMeta, func(n int, content []byte, _, _ int) {
		switch n {
		case 1:
			apiVersion = string(content)
		case 2:
			kind = string(content)
		}
	})
	return apiVersion, kind, object, err
}
