package apitest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxFrame bounds what a length prefix can make the suite allocate.
const maxFrame = 16 << 20

// event is a watch event with what clauses look at.
type event struct {
	kind   string // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
	object object
	status metav1.Status // of an ERROR
	raw    []byte        // the object as sent
	at     time.Duration // since the watch was opened
}

func (v event) end() bool {
	return v.kind == "BOOKMARK" && v.object.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// String is "ADDED name", "BOOKMARK", "END" or "ERROR 410".
func (v event) String() string {
	switch {
	case v.end():
		return "END"
	case v.kind == "ERROR":
		return fmt.Sprintf("ERROR %d", v.status.Code)
	case v.kind == "BOOKMARK":
		return v.kind
	}
	return v.kind + " " + v.object.Name
}

func text(events []event) string {
	var all []string
	for _, v := range events {
		all = append(all, v.String())
	}
	return strings.Join(all, ", ")
}

// stream is an open watch. One goroutine uses it.
type stream struct {
	e      *env
	what   string
	resp   *http.Response
	cancel context.CancelFunc
	opened time.Time
	proto  *bufio.Reader // of a protobuf stream
	json   *json.Decoder // of a JSON one
}

// watch opens a watch on a path and waits for its headers; the answer must be a
// 200. It is closed at the clause's end.
func (e *env) watch(path, query string, headers ...string) *stream {
	e.Helper()
	return e.watchFor(patience, path, query, headers...)
}

func (e *env) watchFor(limit time.Duration, path, query string, headers ...string) *stream {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), limit)
	url := path + "?watch=true&" + query
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+url, nil)
	if err != nil {
		cancel()
		e.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	s := &stream{e: e, what: url, opened: time.Now(), cancel: cancel}
	if s.resp, err = e.client.Do(req); err != nil {
		cancel()
		e.Fatalf("%s: %v", url, err)
	}
	e.Cleanup(s.close)
	if s.resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(s.resp.Body)
		e.Fatalf("%s: answered %d: %s", url, s.resp.StatusCode, body)
	}
	if strings.HasPrefix(s.resp.Header.Get("Content-Type"), mediaProto) {
		s.proto = bufio.NewReader(s.resp.Body)
	} else {
		s.json = json.NewDecoder(s.resp.Body)
	}
	return s
}

func (s *stream) close() {
	s.cancel()
	s.resp.Body.Close()
}

// read returns the next event; io.EOF is a clean end.
func (s *stream) read() (event, error) {
	v := event{}
	if s.proto != nil {
		frame, err := readFrame(s.proto)
		if err != nil {
			return event{}, err
		}
		v.at, v.kind, v.raw = time.Since(s.opened), frame.Type, frame.Object.Raw
		u, err := unwrap(v.raw)
		switch {
		case err != nil:
			return event{}, err
		case v.kind == "ERROR":
			return v, v.status.Unmarshal(u.Raw)
		}
		// Every kind has its ObjectMeta in the same field.
		return v, v.object.Unmarshal(u.Raw)
	}
	var frame struct {
		Type   string
		Object json.RawMessage
	}
	if err := s.json.Decode(&frame); err != nil {
		return event{}, err
	}
	v.at, v.kind, v.raw = time.Since(s.opened), frame.Type, frame.Object
	if v.kind == "ERROR" {
		return v, json.Unmarshal(v.raw, &v.status)
	}
	return v, json.Unmarshal(v.raw, &v.object)
}

// next returns the next event; there must be one.
func (s *stream) next() event {
	s.e.Helper()
	v, err := s.read()
	if err != nil {
		s.e.Fatalf("%s: after %v: %v", s.what, time.Since(s.opened), err)
	}
	return v
}

// take returns the next n events.
func (s *stream) take(n int) []event {
	s.e.Helper()
	var all []event
	for range n {
		all = append(all, s.next())
	}
	return all
}

// initial returns the events up to the end marker, which is the last of them.
func (s *stream) initial() []event {
	s.e.Helper()
	for all := []event(nil); ; {
		all = append(all, s.next())
		if all[len(all)-1].end() {
			return all
		}
	}
}

// rest reads to the end, which must be a clean one, and says when it came.
func (s *stream) rest() ([]event, time.Duration) {
	s.e.Helper()
	var all []event
	for {
		v, err := s.read()
		if errors.Is(err, io.EOF) {
			return all, time.Since(s.opened)
		}
		if err != nil {
			s.e.Fatalf("%s: ended with %v after %v", s.what, err, text(all))
		}
		all = append(all, v)
	}
}

// readFrame reads a 4-byte big-endian length and a WatchEvent.
func readFrame(r io.Reader) (metav1.WatchEvent, error) {
	var v metav1.WatchEvent
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return v, err // io.EOF: between frames
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return v, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return v, fmt.Errorf("inside a frame of %d bytes: %w", n, err)
	}
	return v, v.Unmarshal(frame)
}

// unwrap takes the envelope off a protobuf object.
func unwrap(b []byte) (runtime.Unknown, error) {
	var u runtime.Unknown
	raw, ok := strings.CutPrefix(string(b), "k8s\x00")
	if !ok {
		return u, fmt.Errorf("no protobuf envelope: %q", b[:min(len(b), 8)])
	}
	return u, u.Unmarshal([]byte(raw))
}
