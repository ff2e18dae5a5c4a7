package reflector

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/object"
)

// The bytes that a real API server sent.
const wireDir = "../testdata/wire"

// recorded is one answer of the recording.
type recorded struct {
	Name, File string
	Response   struct {
		Status int
		Header http.Header
	}
	body []byte
}

func recording(t testing.TB) map[string]recorded {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(wireDir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Exchanges []recorded }
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	byName := map[string]recorded{}
	for _, e := range index.Exchanges {
		if e.body, err = os.ReadFile(filepath.Join(wireDir, e.File)); err != nil {
			t.Fatal(err)
		}
		byName[e.Name] = e
	}
	return byName
}

// respond is a transport that gives one answer to everything.
type respond func(*http.Request) (*http.Response, error)

func (f respond) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(code int, header http.Header, body io.Reader) respond {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: header, Body: io.NopCloser(body), ContentLength: -1, Request: r,
		}, nil
	}
}

func (e recorded) transport() respond {
	return answer(e.Response.Status, e.Response.Header, bytes.NewReader(e.body))
}

func sourceOf[T metav1.Object](t testing.TB, transport http.RoundTripper, gvr schema.GroupVersionResource, o SourceOptions[T]) *HTTPSource[T] {
	t.Helper()
	src, err := NewHTTPSource(&rest.Config{Host: "http://server", Transport: transport}, gvr, o)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func listAll[T metav1.Object](t testing.TB, src Source[T]) ([]object.Item[T], ListMeta, error) {
	t.Helper()
	var items []object.Item[T]
	meta, err := src.List(context.Background(), ListOptions{}, func(it object.Item[T]) error {
		items = append(items, it)
		return nil
	})
	return items, meta, err
}

func watchAll[T metav1.Object](t testing.TB, src Source[T]) ([]Event[T], error) {
	t.Helper()
	stream, err := src.Watch(context.Background(), WatchOptions{ResourceVersion: "1"})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var events []Event[T]
	for {
		ev, err := stream.Next()
		if err != nil {
			if _, again := stream.Next(); again != err {
				t.Errorf("after %v, Next says %v", err, again)
			}
			return events, err
		}
		events = append(events, ev)
	}
}

var widgetsGVR = schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}
