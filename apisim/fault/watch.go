package fault

import (
	"bytes"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FrameWriter is the way of frames to the client.
type FrameWriter struct{ out *output }

// Send sends frames.
func (w FrameWriter) Send(frames ...Frame) {
	for _, f := range frames {
		w.out.send(f.Raw)
	}
}

// SendRaw sends bytes that need not be a frame.
func (w FrameWriter) SendRaw(b []byte) { w.out.send(b) }

// End ends the answer cleanly, Break breaks the connection. Nothing can be sent
// after either.
func (w FrameWriter) End()   { w.out.finish(clean) }
func (w FrameWriter) Break() { w.out.finish(breakOff) }

func (w FrameWriter) protobuf() bool {
	return strings.HasPrefix(w.out.w.Header().Get("Content-Type"), protobufType)
}

// EditWatch changes a watch frame by frame. begin is called for each watch that
// the server accepts, once the client is to have the headers; what it returns is
// called with each frame of the server, in order, and sends what is to arrive.
func EditWatch(begin func(w FrameWriter) func(w FrameWriter, f Frame)) Fault {
	return edited(func() editor { return &frameEditor{begin: begin} })
}

type frameEditor struct {
	begin func(FrameWriter) func(FrameWriter, Frame)
	next  func(FrameWriter, Frame)
	split Splitter
}

func (e *frameEditor) start(out *output) {
	w := FrameWriter{out}
	e.split.Protobuf = w.protobuf()
	e.next = e.begin(w)
}

func (e *frameEditor) edit(out *output, b []byte) {
	e.split.Write(b)
	for out.ended == goesOn {
		f, ok := e.split.Next()
		if !ok {
			return
		}
		e.next(FrameWriter{out}, f)
	}
}

func (e *frameEditor) whole(out *output) { out.send(e.split.Rest()) }

// each is EditWatch without anything at the beginning.
func each(newEdit func() func(w FrameWriter, f Frame)) Fault {
	return EditWatch(func(FrameWriter) func(FrameWriter, Frame) { return newEdit() })
}

// after lets n events pass, with the bookmarks among them, and calls then, once,
// as soon as they have passed. What comes later goes to rest; nil lets it pass.
func after(n int, then func(w FrameWriter), rest func(w FrameWriter, f Frame)) Fault {
	return EditWatch(func(w FrameWriter) func(FrameWriter, Frame) {
		left := n
		if left == 0 {
			then(w)
		}
		return func(w FrameWriter, f Frame) {
			switch {
			case left > 0:
				w.Send(f)
				if !f.Bookmark() {
					left--
				}
				if left == 0 {
					then(w)
				}
			case rest != nil:
				rest(w, f)
			default:
				w.Send(f)
			}
		}
	})
}

// EndAfter ends a watch cleanly after n events, as a server does with a slow
// reader. 0 ends it at once.
func EndAfter(n int) Fault { return after(n, FrameWriter.End, nil) }

// BreakAfter breaks the connection of a watch after n events.
func BreakAfter(n int) Fault { return after(n, FrameWriter.Break, nil) }

// ErrorAfter ends a watch with an ERROR event after n events.
func ErrorAfter(n int, st metav1.Status) Fault {
	return after(n, func(w FrameWriter) {
		w.Send(ErrorFrame(w.protobuf(), st))
		w.End()
	}, nil)
}

// CutFrame lets n events pass, sends half of the next one, and ends the answer:
// cleanly, or by breaking the connection.
func CutFrame(n int, cleanly bool) Fault {
	return after(n, func(FrameWriter) {}, func(w FrameWriter, f Frame) {
		w.SendRaw(f.Raw[:len(f.Raw)/2])
		if cleanly {
			w.End()
		} else {
			w.Break()
		}
	})
}

// Bad is a way in which a frame can't be read.
type Bad string

// The ways.
const (
	Garbage     Bad = "garbage"      // bytes that are no frame
	UnknownType Bad = "unknown-type" // "type":"SYNC"
	NullObject  Bad = "null-object"  // an event without an object
	HugeLength  Bad = "huge-length"  // four bytes FF as protobuf's length; in JSON an object that begins with a megabyte of spaces and is never closed
	HugeFrame   Bad = "huge-frame"   // a whole frame of 17 MiB
)

// BadFrame replaces the event after n events by one that can't be read. The
// events after it arrive as they are: a client that skipped the bad one would
// be wrong from there on.
func BadFrame(n int, how Bad) Fault {
	return each(func() func(FrameWriter, Frame) {
		seen := 0
		return func(w FrameWriter, f Frame) {
			if !f.Bookmark() {
				seen++
			}
			if seen != n+1 || f.Bookmark() {
				w.Send(f)
				return
			}
			w.SendRaw(bad(f, how))
		}
	})
}

func bad(f Frame, how Bad) []byte {
	switch how {
	case UnknownType:
		return f.Retyped("SYNC").Raw
	case NullObject:
		if f.Protobuf {
			return newFrame(true, f.Type, nil).Raw
		}
		return newFrame(false, f.Type, []byte("null")).Raw
	case HugeLength:
		if f.Protobuf {
			return []byte{0xff, 0xff, 0xff, 0xff}
		}
		return append([]byte(`{"type":"ADDED","object":{`), bytes.Repeat([]byte{' '}, 1<<20)...)
	case HugeFrame:
		meta := f.Meta()
		meta.Annotations = map[string]string{"large": strings.Repeat("x", 17<<20)}
		return objectFrame(f.Protobuf, f.Type, "v1", "Pod", meta).Raw
	}
	if f.Protobuf {
		return []byte("\x00\x00\x00\x05hello")
	}
	return []byte("<html>502 Bad Gateway</html>\n")
}

// DropBookmarks takes the bookmarks out of a watch, markers excepted.
func DropBookmarks() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if !f.Bookmark() || f.Marker() {
				w.Send(f)
			}
		}
	})
}

// WithholdMarker takes the marker out of a watch-list: its state never ends.
func WithholdMarker() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if !f.Marker() {
				w.Send(f)
			}
		}
	})
}

// RepeatBookmarks sends each bookmark twice, markers too.
func RepeatBookmarks() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if w.Send(f); f.Bookmark() {
				w.Send(f)
			}
		}
	})
}

// FalseMarker adds a marker after each event of a watch, at its version.
func FalseMarker() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if w.Send(f); !f.Bookmark() && f.Type != "ERROR" {
				w.Send(BookmarkFrame(f.Protobuf, f.Meta().ResourceVersion, true))
			}
		}
	})
}

// WrongBookmark gives each bookmark an object of another kind, at its version.
func WrongBookmark() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if f.Bookmark() && !f.Marker() {
				f = objectFrame(f.Protobuf, f.Type, "example.com/v1", "Unexpected", metav1.ObjectMeta{ResourceVersion: f.Meta().ResourceVersion})
			}
			w.Send(f)
		}
	})
}

// BookmarkAfter adds, after n events, a bookmark at the version that rv returns,
// and ends the watch cleanly.
func BookmarkAfter(n int, rv func() string) Fault {
	return after(n, func(w FrameWriter) {
		w.Send(BookmarkFrame(w.protobuf(), rv(), false))
		w.End()
	}, nil)
}

// Replay sends the first n events of a watch once more after them.
func Replay(n int) Fault {
	return each(func() func(FrameWriter, Frame) {
		var sent []Frame
		return func(w FrameWriter, f Frame) {
			w.Send(f)
			if len(sent) < n && !f.Bookmark() {
				if sent = append(sent, f); len(sent) == n {
					w.Send(sent...)
				}
			}
		}
	})
}

// Retype gives events of one type another: ADDED for MODIFIED, say.
func Retype(from, to string) Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if f.Type == from {
				f = f.Retyped(to)
			}
			w.Send(f)
		}
	})
}

// GhostDelete adds, after each event, the deletion of an object that never was,
// at the event's version.
func GhostDelete() Fault {
	return each(func() func(FrameWriter, Frame) {
		return func(w FrameWriter, f Frame) {
			if w.Send(f); !f.Bookmark() && f.Type != "ERROR" {
				meta := metav1.ObjectMeta{Namespace: "default", Name: "ghost", UID: "ghost", ResourceVersion: f.Meta().ResourceVersion}
				w.Send(objectFrame(f.Protobuf, "DELETED", "v1", "Pod", meta))
			}
		}
	})
}

// Hold keeps back what a watch sends for d from its first frame, and then sends
// it in one burst.
func Hold(d time.Duration) Fault { return holding(d) }
