package reflector

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// A server says 410 to a watch, and never ends that answer. What it said
// counts: it was taken for silence, and the same version was asked for again,
// for ever.
func TestRefusalThatDoesNotEnd(t *testing.T) {
	const expired = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`
	synctest.Test(t, func(t *testing.T) {
		src := sourceOf(t, respond(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Has("watch") {
				return answer(http.StatusGone, nil, io.MultiReader(strings.NewReader(expired), untilDone{r}))(r)
			}
			return answer(http.StatusOK, nil, strings.NewReader(list))(r)
		}), podsGVR, SourceOptions[*corev1.Pod]{})
		r := startSource[*corev1.Pod](t, nil, src, Options{WatchList: WatchListNever})
		time.Sleep(time.Minute)
		if status := r.Status(); status.Relists[RelistExpired] != 1 {
			t.Errorf("status %+v", status)
		}
		r.end()
	})
}

// untilDone is a body that says nothing until its request is given up.
type untilDone struct{ *http.Request }

func (u untilDone) Read([]byte) (int, error) {
	<-u.Context().Done()
	return 0, u.Context().Err()
}
