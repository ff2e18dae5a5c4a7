package fault

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Frame is one frame of a watch, as it is on the wire: a line of JSON, or a
// length and a protobuf WatchEvent.
type Frame struct {
	Raw      []byte // all of it
	Protobuf bool
	Type     string // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR; "" if the frame can't be read
	object   []byte // the stand-alone form
}

// Bookmark reports whether the frame has no object of its own.
func (f Frame) Bookmark() bool { return f.Type == "BOOKMARK" }

// Marker reports whether the frame ends the state of a watch-list.
func (f Frame) Marker() bool {
	return f.Bookmark() && f.Meta().Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// Meta returns the metadata of the object, empty if it has none.
func (f Frame) Meta() metav1.ObjectMeta {
	var partial metav1.PartialObjectMetadata
	if f.Type == "" || f.Type == "ERROR" {
		return metav1.ObjectMeta{}
	}
	if !f.Protobuf {
		_ = json.Unmarshal(f.object, &partial) // what can't be read has none
		return partial.ObjectMeta
	}
	_, _, object, err := opened(f.object)
	if err != nil {
		return metav1.ObjectMeta{}
	}
	meta, err := only(object, 1)
	if err != nil || partial.ObjectMeta.Unmarshal(meta) != nil {
		return metav1.ObjectMeta{}
	}
	return partial.ObjectMeta
}

// Status returns the Status of an ERROR frame.
func (f Frame) Status() (metav1.Status, bool) {
	var st metav1.Status
	if f.Type != "ERROR" {
		return st, false
	}
	if !f.Protobuf {
		return st, json.Unmarshal(f.object, &st) == nil
	}
	_, _, object, err := opened(f.object)
	return st, err == nil && st.Unmarshal(object) == nil
}

// Retyped returns the frame with another type.
func (f Frame) Retyped(typ string) Frame { return newFrame(f.Protobuf, typ, f.object) }

func newFrame(protobuf bool, typ string, object []byte) Frame {
	f := Frame{Protobuf: protobuf, Type: typ, object: object}
	if !protobuf {
		f.Raw = []byte(`{"type":"` + typ + `","object":` + string(object) + "}\n")
		return f
	}
	event := field(nil, 1, []byte(typ))
	if object != nil {
		event = field(event, 2, field(nil, 1, object))
	}
	f.Raw = append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
	return f
}

// ErrorFrame is the frame with which a server ends a watch.
func ErrorFrame(protobuf bool, st metav1.Status) Frame {
	st = complete(st, 0)
	if protobuf {
		return newFrame(true, "ERROR", protobufStatus(st))
	}
	return newFrame(false, "ERROR", jsonOf(st))
}

// BookmarkFrame is a bookmark of a pod watch at a version; the marker ends the
// state of a watch-list.
func BookmarkFrame(protobuf bool, rv string, marker bool) Frame {
	meta := metav1.ObjectMeta{ResourceVersion: rv}
	if marker {
		meta.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return objectFrame(protobuf, "BOOKMARK", "v1", "Pod", meta)
}

// objectFrame is a frame whose object is nothing but metadata.
func objectFrame(protobuf bool, typ, apiVersion, kind string, meta metav1.ObjectMeta) Frame {
	if !protobuf {
		return newFrame(false, typ, jsonOf(metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, ObjectMeta: meta,
		}))
	}
	b, _ := meta.Marshal() // strings: this can't fail
	return newFrame(true, typ, envelope(apiVersion, kind, field(nil, 1, b)))
}

// Splitter cuts the body of a watch into frames. The zero value is for JSON.
type Splitter struct {
	Protobuf bool
	buf      []byte
	lost     bool // a frame was longer than maxFrame: nothing can be told apart any more
}

// maxFrame caps what is kept of a frame that isn't complete.
const maxFrame = 64 << 20

// Write takes the next bytes of the body.
func (s *Splitter) Write(b []byte) {
	if !s.lost {
		s.buf = append(s.buf, b...)
	}
}

// Next returns the next whole frame, if there is one.
func (s *Splitter) Next() (Frame, bool) {
	n := s.length()
	if n < 0 || n > maxFrame {
		s.lost = true
		f := Frame{Raw: s.buf, Protobuf: s.Protobuf}
		s.buf = nil
		return f, len(f.Raw) > 0
	}
	if n == 0 || len(s.buf) < n {
		return Frame{}, false
	}
	f := s.parse(bytes.Clone(s.buf[:n]))
	s.buf = append(s.buf[:0], s.buf[n:]...)
	return f, true
}

// Rest returns what is left of a frame that isn't whole.
func (s *Splitter) Rest() []byte { return s.buf }

// length is that of the frame at the front: 0 unknown yet, negative impossible.
func (s *Splitter) length() int {
	if s.lost {
		return 0
	}
	if !s.Protobuf {
		if n := bytes.IndexByte(s.buf, '\n') + 1; n > 0 || len(s.buf) < maxFrame {
			return n
		}
		return -1
	}
	if len(s.buf) < 4 {
		return 0
	}
	if n := binary.BigEndian.Uint32(s.buf); n < maxFrame {
		return 4 + int(n)
	}
	return -1
}

func (s *Splitter) parse(raw []byte) Frame {
	f := Frame{Raw: raw, Protobuf: s.Protobuf}
	if !s.Protobuf {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if json.Unmarshal(raw, &event) == nil && known(event.Type) && len(event.Object) > 0 && event.Object[0] == '{' {
			f.Type, f.object = event.Type, event.Object
		}
		return f
	}
	typ, err := only(raw[4:], 1)
	if err != nil {
		return f
	}
	extension, err := only(raw[4:], 2)
	if err != nil {
		return f
	}
	if object, err := only(extension, 1); err == nil && known(string(typ)) && len(object) > 0 {
		f.Type, f.object = string(typ), object
	}
	return f
}

func known(typ string) bool {
	switch typ {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR":
		return true
	}
	return false
}
