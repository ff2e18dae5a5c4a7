package reflector

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func FuzzJSONWatch(f *testing.F) {
	rec := recording(f)
	for _, name := range []string{"widgets-watch-json", "pods-watch-expired-json", "pods-watchlist-empty-json"} {
		f.Add(rec[name].body)
	}
	f.Add([]byte(`{"object":{"kind":"Pod","metadata":{"name":"a","annotations":{"k8s.io/initial-events-end":"true"}}},"type":"BOOKMARK"}`))
	f.Add([]byte(`{"type":"ADDED","object":` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `}`))
	fuzzWatch(f)
}

func FuzzProtoWatch(f *testing.F) {
	rec := recording(f)
	for _, name := range []string{"widgets-metadata-watch-protobuf", "pods-watch-expired-protobuf", "pods-watchlist-empty-protobuf"} {
		f.Add(rec[name].body)
	}
	f.Add([]byte{0, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	fuzzWatch(f)
}

// fuzzWatch: no crash, no hang, no memory beyond what the bytes are worth, the
// same frames wherever reads end, and the same events from a prefix.
func fuzzWatch(f *testing.F) {
	const limit = 64 << 10
	var body []byte
	transport := respond(func(r *http.Request) (*http.Response, error) {
		return answer(200, nil, bytes.NewReader(body))(r)
	})
	pods := sourceOf(f, transport, podsGVR, SourceOptions[*corev1.Pod]{MaxFrameBytes: limit})
	meta := sourceOf(f, transport, podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{MaxFrameBytes: limit})
	f.Fuzz(func(t *testing.T, b []byte) {
		body = b
		var got []string
		var err error
		mayAllocate(t, walkCost(len(body)), func() { got, err = frames(bytes.NewReader(body), limit) })
		again, err2 := frames(iotest.HalfReader(bytes.NewReader(body)), limit)
		if len(body) < limit && ((err == io.EOF) != (err2 == io.EOF) || strings.Join(got, ",") != strings.Join(again, ",")) {
			t.Fatalf("%q %v, but in pieces %q %v", got, err, again, err2)
		}

		var events []Event[*corev1.Pod]
		mayAllocate(t, decodeCost(len(body)), func() { events, err = watchAll(t, pods) })
		if _, ok := errors.AsType[*Error](err); err != io.EOF && !ok {
			t.Fatalf("an error without what it is about: %v", err)
		}
		if _, err := watchAll(t, meta); err == nil {
			t.Fatal("the stream didn't end")
		}

		body = body[:len(body)/2]
		prefix, _ := watchAll(t, pods)
		if len(prefix) > len(events) {
			t.Fatalf("%d events, but %d of the first half", len(events), len(prefix))
		}
		for i, ev := range prefix {
			if !sameEvent(ev, events[i]) {
				t.Fatalf("event %d is %+v, but of the first half %+v", i, events[i], ev)
			}
		}
	})
}

func sameEvent[T metav1.Object](a, b Event[T]) bool {
	return a.Type == b.Type && a.InitialEventsEnd == b.InitialEventsEnd &&
		(a.Quarantined == nil) == (b.Quarantined == nil) && reflect.DeepEqual(a.Item, b.Item)
}
