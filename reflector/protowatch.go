package reflector

import (
	"bufio"
	"encoding/binary"
	"io"
)

// protoFrames reads length-prefixed frames. Each is taken as a whole, and the
// object is a part of it: nothing is copied but what doesn't fit the buffer.
type protoFrames struct {
	protoReader
}

func newProtoFrames(br *bufio.Reader, maxFrame int) *protoFrames {
	return &protoFrames{protoReader{br: br, max: maxFrame, option: "SourceOptions.MaxFrameBytes", left: unlimited}}
}

func (p *protoFrames) next() (frame, error) {
	head, err := p.br.Peek(4)
	if err == io.EOF && len(head) == 0 {
		return frame{}, io.EOF
	}
	if err != nil {
		return frame{}, unreadable("a watch frame", cut(err))
	}
	size := binary.BigEndian.Uint32(head)
	if uint64(size) > uint64(p.max) {
		return frame{}, unreadable("a watch frame", &SizeError{Limit: p.max, Option: p.option})
	}
	p.br.Discard(4) // they were peeked
	msg, err := p.take(int(size))
	if err != nil {
		return frame{}, unreadable("a watch frame", err)
	}
	f, err := openFrame(msg)
	return f, unreadable("a watch frame", err)
}

// openFrame finds the object inside a frame: WatchEvent{1: type, 2:
// RawExtension{1: raw}}, and raw is an envelope.
func openFrame(msg []byte) (frame, error) {
	var word, ext, raw []byte
	for len(msg) > 0 {
		f, rest, err := nextField(msg)
		if err != nil {
			return frame{}, err
		}
		switch {
		case f.wire != wireBytes:
		case f.num == 1:
			word = f.bytes
		case f.num == 2:
			ext = f.bytes
		}
		msg = rest
	}
	for len(ext) > 0 {
		f, rest, err := nextField(ext)
		if err != nil {
			return frame{}, err
		}
		if f.num == 1 && f.wire == wireBytes {
			raw = f.bytes
		}
		ext = rest
	}
	event, err := eventType(word)
	if err != nil {
		return frame{}, err
	}
	if event == 0 {
		// A Status, which may be JSON even here.
		return frame{enc: encProtobuf, obj: raw}, nil
	}
	obj, _, err := openEnvelope(raw)
	return frame{event: event, enc: encProtobuf, obj: obj}, err
}
