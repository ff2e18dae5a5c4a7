package reflector

import (
	"bufio"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields of runtime.Unknown, the envelope of everything.
const (
	envelopeTypeMeta = 1
	envelopeRaw      = 2
	envelopeEncoding = 3
	envelopeType     = 4
)

// The fields that every list has in common.
const (
	listMetadata = 1
	listItems    = 2
)

// decodeProtoList walks a list's fields and lends each item's bytes where they
// lie. The fields may come in any order, with unknown ones between them.
func decodeProtoList(br *bufio.Reader, maxItem int, use useItem) (listHead, error) {
	l := protoList{use: use}
	l.protoReader = protoReader{br: br, max: maxItem, option: "SourceOptions.MaxItemBytes", left: unlimited}
	if _, err := br.Discard(len(protobufMagic)); err != nil {
		return listHead{}, unreadable("a list", cut(err))
	}
	err := l.envelope()
	return l.head, unreadable("a list", err)
}

type protoList struct {
	protoReader
	use   useItem
	head  listHead
	items int
}

// envelope reads the outer message. Nothing but the end of the body ends it,
// so its last fields, which a server always writes, must be there: a body cut
// before them is cut.
func (l *protoList) envelope() error {
	var sawRaw, sawEncoding, sawType bool
	for {
		num, wire, err := l.tag()
		if err == io.EOF {
			if !sawRaw || !sawEncoding || !sawType {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case num == envelopeTypeMeta && wire == wireBytes:
			err = l.typeMeta()
		case num == envelopeRaw && wire == wireBytes:
			if sawRaw {
				return fmt.Errorf("%w: two objects in one envelope", errProtobuf)
			}
			sawRaw = true
			err = l.raw()
		case (num == envelopeEncoding || num == envelopeType) && wire == wireBytes:
			sawEncoding = sawEncoding || num == envelopeEncoding
			sawType = sawType || num == envelopeType
			err = l.mustBeEmpty()
		default:
			err = l.skip(wire)
		}
		if err != nil {
			return err
		}
	}
}

func (l *protoList) typeMeta() error {
	raw, err := l.bytes()
	if err != nil {
		return err
	}
	l.head.APIVersion, l.head.Kind, err = protoTypeMeta(raw)
	return err
}

// mustBeEmpty reads a field that would say that the object is encoded again.
func (l *protoList) mustBeEmpty() error {
	raw, err := l.bytes()
	if err == nil && len(raw) > 0 {
		err = fmt.Errorf("%w: unknown content encoding or type %.40q", errProtobuf, raw)
	}
	return err
}

// raw reads the list itself, exactly to its end.
func (l *protoList) raw() error {
	size, err := l.varint()
	if err != nil {
		return err
	}
	if l.head.Kind == "Status" {
		return l.status(size)
	}
	l.left = size
	for {
		num, wire, err := l.tag()
		if err == io.EOF {
			l.left = unlimited
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case num == listMetadata && wire == wireBytes:
			err = l.metadata()
		case num == listItems && wire == wireBytes:
			err = l.item()
		default:
			err = l.skip(wire)
		}
		if err != nil {
			return err
		}
	}
}

func (l *protoList) metadata() error {
	raw, err := l.bytes()
	if err != nil {
		return err
	}
	var m metav1.ListMeta
	if err := m.Unmarshal(raw); err != nil {
		return &DecodeError{What: "a list's metadata", Err: err}
	}
	l.head.resourceVersion, l.head.token = m.ResourceVersion, m.Continue
	if m.RemainingItemCount != nil {
		l.head.remaining = *m.RemainingItemCount
	}
	return nil
}

func (l *protoList) item() error {
	raw, err := l.bytes()
	if err == nil {
		err = l.use(raw, encProtobuf, l.head.TypeMeta)
	}
	if err != nil {
		return unreadable(fmt.Sprintf("list item %d", l.items), err)
	}
	l.items++
	return nil
}

func (l *protoList) status(size uint64) error {
	if size > maxStatus {
		return &SizeError{Limit: maxStatus}
	}
	raw, err := l.take(int(size))
	if err != nil {
		return err
	}
	var st metav1.Status
	if err := st.Unmarshal(raw); err != nil {
		return &DecodeError{What: "a Status", Err: err}
	}
	return statusFailure(st)
}
