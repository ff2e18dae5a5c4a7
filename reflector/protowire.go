package reflector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The wire types of protobuf that Kubernetes uses or a reader must skip.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errProtobuf = errors.New("malformed protobuf")

// field is one field of a message that lies in memory.
type field struct {
	num   int
	wire  int
	value uint64 // of a varint
	bytes []byte // of a length-prefixed field, not copied
}

// nextField takes the first field off a message.
func nextField(msg []byte) (f field, rest []byte, err error) {
	tag, n := binary.Uvarint(msg)
	if n <= 0 {
		return f, nil, errProtobuf
	}
	if f.num, f.wire, err = splitTag(tag); err != nil {
		return f, nil, err
	}
	msg = msg[n:]
	switch f.wire {
	case wireVarint:
		if f.value, n = binary.Uvarint(msg); n <= 0 {
			return f, nil, errProtobuf
		}
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		size, m := binary.Uvarint(msg)
		if m <= 0 || size > uint64(len(msg)-m) {
			return f, nil, errProtobuf
		}
		n = m + int(size)
		f.bytes = msg[m:n]
	}
	if n > len(msg) {
		return f, nil, errProtobuf
	}
	return f, msg[n:], nil
}

// splitTag refuses the wire types that are not for skipping: groups, which
// went out of use before Kubernetes began, and the undefined ones.
func splitTag(tag uint64) (num, wire int, err error) {
	num, wire = int(tag>>3), int(tag&7)
	if num <= 0 || tag > math.MaxUint32 {
		return 0, 0, errProtobuf
	}
	switch wire {
	case wireVarint, wireFixed64, wireBytes, wireFixed32:
		return num, wire, nil
	}
	return 0, 0, fmt.Errorf("%w: wire type %d", errProtobuf, wire)
}

// maxDepth is how deep messages may nest, as in JSON. Generated code has no such
// limit: six megabytes of a custom resource definition's schema that holds
// itself overflow the stack, which ends the process.
const maxDepth = 10_000

// tooDeep reports whether anything in a message may nest deeper than that. What
// is a message and what is text can't be told apart, so everything long enough
// is looked into; a level takes two bytes at least.
func tooDeep(msg []byte, depth int) bool {
	if depth < 0 {
		return true
	}
	for len(msg) > 2*depth {
		f, rest, err := nextField(msg)
		if err != nil {
			return false
		}
		if f.wire == wireBytes && tooDeep(f.bytes, depth-1) {
			return true
		}
		msg = rest
	}
	return false
}

// protoReader reads protobuf fields off a stream.
type protoReader struct {
	br      *bufio.Reader
	max     int    // cap of one field that is taken as a whole
	option  string // the option that sets it
	scratch []byte // for fields that don't fit br's buffer
	// left is what remains of the message being read, unlimited at top level.
	left uint64
}

const unlimited = math.MaxUint64

func (p *protoReader) spend(n uint64) error {
	switch {
	case p.left == unlimited:
		return nil
	case n > p.left:
		return fmt.Errorf("%w: a field reaches past the end of its message", errProtobuf)
	}
	p.left -= n
	return nil
}

// tag reads the next field's tag. It returns io.EOF at the end of the message.
func (p *protoReader) tag() (num, wire int, err error) {
	if p.left == 0 {
		return 0, 0, io.EOF
	}
	if _, err := p.br.Peek(1); err == io.EOF && p.left == unlimited {
		return 0, 0, io.EOF
	}
	tag, err := p.varint()
	if err != nil {
		return 0, 0, err
	}
	return splitTag(tag)
}

func (p *protoReader) varint() (uint64, error) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if err := p.spend(1); err != nil {
			return 0, err
		}
		b, err := p.br.ReadByte()
		if err != nil {
			return 0, cut(err)
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errProtobuf
}

// bytes reads a length-prefixed field. What it returns is lent until the next
// call.
func (p *protoReader) bytes() ([]byte, error) {
	n, err := p.varint()
	if err != nil {
		return nil, err
	}
	if n > uint64(p.max) {
		return nil, &SizeError{Limit: p.max, Option: p.option}
	}
	if err := p.spend(n); err != nil {
		return nil, err
	}
	return p.take(int(n))
}

// take reads n bytes: where they lie if they fit the buffer, and otherwise into
// memory that grows as they arrive, so that a length alone costs nothing.
func (p *protoReader) take(n int) ([]byte, error) {
	if n <= p.br.Size() {
		b, err := p.br.Peek(n)
		if err != nil {
			return nil, cut(err)
		}
		_, err = p.br.Discard(n)
		return b, err
	}
	buf := p.scratch[:0]
	for len(buf) < n {
		step := min(n-len(buf), max(len(buf), p.br.Size()))
		at := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(p.br, buf[at:]); err != nil {
			return nil, cut(err)
		}
	}
	p.scratch = buf
	return buf, nil
}

// skip passes over a field that nobody asked for.
func (p *protoReader) skip(wire int) error {
	var n uint64
	switch wire {
	case wireVarint:
		_, err := p.varint()
		return err
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		var err error
		if n, err = p.varint(); err != nil {
			return err
		}
	}
	if err := p.spend(n); err != nil {
		return err
	}
	if n > math.MaxInt64 {
		return errProtobuf
	}
	_, err := io.CopyN(io.Discard, p.br, int64(n))
	return cut(err)
}

// cut turns the end of the stream into what it is inside a message.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
