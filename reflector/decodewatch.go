package reflector

import (
	"bufio"
	"fmt"
	"io"
)

// frame is one event as it lies in the buffer: its bytes are lent until the
// next is read.
type frame struct {
	event EventType // 0: an ERROR
	enc   encoding
	obj   []byte
}

// frameReader reads one event after another. It returns io.EOF only between
// frames.
type frameReader interface {
	next() (frame, error)
}

// watchBuffer is small, since watches are many and mostly idle.
const watchBuffer = 8 << 10

// framesOf waits for the first byte, and returns a reader for what it begins.
// A protobuf frame begins with its length, whose first byte is 0, or a little
// more where the cap allows 16 MiB and beyond.
func framesOf(r io.Reader, maxFrame int) (frameReader, error) {
	br := bufio.NewReaderSize(r, watchBuffer)
	start, err := br.Peek(1)
	switch {
	case err != nil:
		return nil, err
	case looksLikeJSON(start):
		return newJSONFrames(br, maxFrame), nil
	case int(start[0]) <= maxFrame>>24:
		return newProtoFrames(br, maxFrame), nil
	}
	start, _ = br.Peek(br.Buffered())
	return nil, notOurs("watch", start[:min(len(start), 16)])
}

// eventType reads the word of the wire. ERROR is 0.
func eventType(word []byte) (EventType, error) {
	switch string(word) {
	case "ADDED":
		return Added, nil
	case "MODIFIED":
		return Modified, nil
	case "DELETED":
		return Deleted, nil
	case "BOOKMARK":
		return Bookmark, nil
	case "ERROR":
		return 0, nil
	}
	return 0, &DecodeError{What: "a watch event", Err: fmt.Errorf("unknown type %.40q", word)}
}
