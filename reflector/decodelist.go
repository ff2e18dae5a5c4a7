package reflector

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encoding is how bytes at hand are encoded: what they are, not what was asked for.
type encoding uint8

const (
	encJSON encoding = iota + 1
	encProtobuf
)

// protobufMagic begins every protobuf object of Kubernetes.
const protobufMagic = "k8s\x00"

// listHead is what a list says about itself.
type listHead struct {
	metav1.TypeMeta
	resourceVersion string
	token           string
	remaining       int64
}

// useItem takes the bytes of one item, which are only lent. The TypeMeta is
// that of the list, as far as it is known by then.
type useItem func(raw []byte, enc encoding, list metav1.TypeMeta) error

// listBuffer is how much of a list is read at once. Items that fit are decoded
// where they lie.
const listBuffer = 64 << 10

// decodeList reads one list in whatever encoding it is, and lends its items
// one by one. It returns nil only when the list was complete.
func decodeList(r io.Reader, maxItem int, use useItem) (listHead, error) {
	br := bufio.NewReaderSize(r, listBuffer)
	start, err := br.Peek(len(protobufMagic))
	switch {
	case string(start) == protobufMagic:
		return decodeProtoList(br, maxItem, use)
	case looksLikeJSON(start):
		return decodeJSONList(br, maxItem, use)
	case err == io.EOF && len(start) == 0:
		return listHead{}, fmt.Errorf("the answer is empty: %w", io.ErrUnexpectedEOF)
	case err != nil && err != io.EOF:
		return listHead{}, err
	}
	return listHead{}, notOurs("list", start)
}

// looksLikeJSON reports whether bytes begin a JSON object.
func looksLikeJSON(start []byte) bool {
	for _, c := range start {
		switch c {
		case '{':
			return true
		case ' ', '\t', '\r', '\n':
			continue
		}
		return false
	}
	return len(start) > 0 // nothing but space so far: let the decoder see
}

// notOurs says that bytes are neither JSON nor protobuf.
func notOurs(what string, start []byte) error {
	return &DecodeError{What: what, Err: fmt.Errorf(
		"it begins with %q, which is neither JSON nor protobuf; does the address lead to an API server?", start)}
}

// unreadable turns an error met while reading into what it means: bytes that
// can't be read are a DecodeError; a broken or cut connection stays what it is.
func unreadable(what string, err error) error {
	if err == nil {
		return nil
	}
	if bad, ok := errors.AsType[*DecodeError](err); ok {
		bad.What = cmp.Or(bad.What, what)
		return err
	}
	if size, ok := errors.AsType[*SizeError](err); ok {
		return &DecodeError{What: what, Err: size}
	}
	if broken, ok := errors.AsType[*brokenError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the connection broke while %s was read: %w", what, broken.err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fmt.Errorf("the connection was cut inside %s: %w", what, io.ErrUnexpectedEOF)
	}
	if syntactic(err) || errors.Is(err, errProtobuf) {
		return &DecodeError{What: what, Err: err}
	}
	return err
}
