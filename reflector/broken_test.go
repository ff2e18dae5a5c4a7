package reflector

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// A connection that breaks inside a JSON value is no bad JSON. It was taken for
// that: a decoder reports what a read inside a nested value returned as a
// syntax error there, so each reset in the middle of an event cost a relist
// where resuming the watch was right. A soak on a real server found it.
func TestBrokenConnectionIsNoBadFrame(t *testing.T) {
	rec := recording(t)
	reset := errors.New("use of closed network connection")
	breaks := func(body []byte) io.Reader { return io.MultiReader(bytes.NewReader(body), iotest.ErrReader(reset)) }
	check := func(name string, n int, err error) {
		t.Helper()
		if bad, ok := errors.AsType[*DecodeError](err); ok || !errors.Is(err, reset) {
			t.Fatalf("%s broken after %d bytes: %v (a DecodeError: %v)", name, n, err, bad)
		}
	}
	for _, name := range []string{"widgets-watch-json", "widgets-metadata-watch-protobuf"} {
		body := rec[name].body
		for n := range body {
			_, err := frames(breaks(body[:n]), defaultMaxBytes)
			check(name, n, err)
		}
	}
	for _, name := range []string{"pods-list-page3-json", "pods-list-page3-protobuf", "widgets-list-json"} {
		body := bytes.TrimRight(rec[name].body, "\n")
		for n := range min(len(body), 8<<10) {
			_, _, err := names(breaks(body[:n]), defaultMaxBytes)
			check(name, n, err)
		}
	}
}
