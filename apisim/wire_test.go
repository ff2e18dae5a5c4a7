package apisim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The files under testdata/wire are what a real API server has sent. The
// simulator must write the same objects as the same bytes, and refuse the same
// requests with the same Status.

func recorded(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "wire", file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rewriteList writes the recorded objects as a list of the simulator.
func rewriteList(t *testing.T, res Resource, enc encoding, meta metav1.ListMeta, objs []runtime.Object, gzip bool) *httptest.ResponseRecorder {
	t.Helper()
	s := New(withWidgets())
	if err := res.complete(); err != nil {
		t.Fatal(err)
	}
	items := make([]*revision, len(objs))
	for i, o := range objs {
		items[i] = newRevision(&res, "", o)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if gzip {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	w := httptest.NewRecorder()
	s.writeList(w, r, &res, enc, meta, items)
	return w
}

func podsOf(t *testing.T, file string) (metav1.ListMeta, []runtime.Object) {
	t.Helper()
	var l corev1.PodList
	if err := json.Unmarshal(recorded(t, file), &l); err != nil {
		t.Fatal(err)
	}
	objs := make([]runtime.Object, len(l.Items))
	for i := range l.Items {
		objs[i] = &l.Items[i]
	}
	return l.ListMeta, objs
}

func widgetsOf(t *testing.T, file string) (metav1.ListMeta, []runtime.Object) {
	t.Helper()
	var l unstructured.UnstructuredList
	if err := l.UnmarshalJSON(recorded(t, file)); err != nil {
		t.Fatal(err)
	}
	objs := make([]runtime.Object, len(l.Items))
	for i := range l.Items {
		objs[i] = &l.Items[i]
	}
	return metav1.ListMeta{ResourceVersion: l.GetResourceVersion()}, objs
}

func TestListBytesAreTheRealServers(t *testing.T) {
	widget := CustomResource(widgets, "Widget", true)
	for _, tc := range []struct {
		why, objects, bytes string
		res                 Resource
		enc                 encoding
	}{
		{"a typed list: kind, apiVersion, metadata, items; no kind in items", "pods-list-json.json", "pods-list-json.json", Pods(), encJSON},
		{"the same in protobuf, in an envelope", "pods-list-json.json", "pods-list-protobuf.pb", Pods(), encProto},
		{"an empty list has items []", "pods-list-empty-json.json", "pods-list-empty-json.json", Pods(), encJSON},
		{"an empty protobuf list has no items", "pods-list-empty-json.json", "pods-list-empty-protobuf.pb", Pods(), encProto},
		{"a page has a token and a remaining count", "pods-list-page1-json.json", "pods-list-page1-json.json", Pods(), encJSON},
		{"the same in protobuf", "pods-list-page1-json.json", "pods-list-page1-protobuf.pb", Pods(), encProto},
		{"a custom list has sorted keys, metadata last", "widgets-list-json.json", "widgets-list-json.json", widget, encJSON},
		{"metadata of a custom list has protobuf", "widgets-list-json.json", "widgets-metadata-list-protobuf.pb", widget, encPartialProto},
	} {
		t.Run(tc.bytes, func(t *testing.T) {
			load := podsOf
			if !tc.res.typed() {
				load = widgetsOf
			}
			meta, objs := load(t, tc.objects)
			got := rewriteList(t, tc.res, tc.enc, meta, objs, false)
			if want := recorded(t, tc.bytes); !bytes.Equal(got.Body.Bytes(), want) {
				t.Errorf("%s: differs from the recording:\n%s", tc.why, firstDifference(got.Body.Bytes(), want))
			}
		})
	}
}

func TestMetadataListBytesAreTheRealServers(t *testing.T) {
	// Only the pods of namespace a were recorded as metadata.
	meta, all := podsOf(t, "pods-list-json.json")
	var objs []runtime.Object
	for _, o := range all {
		if o.(*corev1.Pod).Namespace == "a" {
			objs = append(objs, o)
		}
	}
	for file, enc := range map[string]encoding{
		"pods-metadata-list-json.json":   encPartialJSON,
		"pods-metadata-list-protobuf.pb": encPartialProto,
	} {
		got := rewriteList(t, Pods(), enc, meta, objs, false).Body.Bytes()
		if want := recorded(t, file); !bytes.Equal(got, want) {
			t.Errorf("%s: %s", file, firstDifference(got, want))
		}
	}
}

func TestObjectBytesAreTheRealServers(t *testing.T) {
	var p corev1.Pod
	if err := json.Unmarshal(recorded(t, "pod-get-json.json"), &p); err != nil {
		t.Fatal(err)
	}
	p.TypeMeta = metav1.TypeMeta{}
	res := Pods()
	rev := newRevision(&res, "", &p)
	for file, accept := range map[string]string{"pod-get-json.json": jsonMedia, "pod-get-protobuf.pb": protoMedia} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		New().writeObject(w, r, http.StatusOK, rev)
		if want := recorded(t, file); !bytes.Equal(w.Body.Bytes(), want) {
			t.Errorf("%s: %s", file, firstDifference(w.Body.Bytes(), want))
		}
	}
}

func TestWatchBytesAreTheRealServers(t *testing.T) {
	widget := CustomResource(widgets, "Widget", true)
	for _, tc := range []struct {
		objects, bytes string
		res            Resource
		enc            encoding
	}{
		{"pods-watchlist-json.frames.json", "pods-watchlist-json.frames.json", Pods(), encJSON},
		{"pods-watch-json.frames.json", "pods-watch-json.frames.json", Pods(), encJSON},
		{"pods-watch-json.frames.json", "pods-watch-protobuf.frames.pb", Pods(), encProto},
		{"pods-watch-json.frames.json", "pods-metadata-watch-json.frames.json", Pods(), encPartialJSON},
		{"pods-watch-json.frames.json", "pods-metadata-watch-protobuf.frames.pb", Pods(), encPartialProto},
		{"widgets-watchlist-json.frames.json", "widgets-watchlist-json.frames.json", widget, encJSON},
		{"widgets-watch-json.frames.json", "widgets-metadata-watch-protobuf.frames.pb", widget, encPartialProto},
	} {
		t.Run(tc.bytes, func(t *testing.T) {
			if err := tc.res.complete(); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			out := New().newWatchWriter(w, httptest.NewRequest(http.MethodGet, "/", nil), &tc.res, tc.enc, false)
			dec := json.NewDecoder(bytes.NewReader(recorded(t, tc.objects)))
			for dec.More() {
				var frame struct {
					Type   string
					Object json.RawMessage
				}
				if err := dec.Decode(&frame); err != nil {
					t.Fatal(err)
				}
				obj := tc.res.newObject()
				if u, ok := obj.(*unstructured.Unstructured); ok {
					if err := u.UnmarshalJSON(frame.Object); err != nil {
						t.Fatal(err)
					}
				} else if err := json.Unmarshal(frame.Object, obj); err != nil {
					t.Fatal(err)
				}
				obj, err := tc.res.normalize(obj)
				if err != nil {
					t.Fatal(err)
				}
				if frame.Type != typeBookmark {
					out.event(frame.Type, &body{res: &tc.res, obj: obj})
					continue
				}
				m := obj.(metav1.Object)
				rv, err := parseRV(m.GetResourceVersion())
				if err != nil {
					t.Fatal(err)
				}
				out.bookmark(rv, len(m.GetAnnotations()) > 0)
			}
			out.flush()
			if want := recorded(t, tc.bytes); !bytes.Equal(w.Body.Bytes(), want) {
				t.Error(firstDifference(w.Body.Bytes(), want))
			}
		})
	}
}

// TestStatusesAreTheRealServers compares each refusal in everything but the
// message, the RVs of which differ.
func TestStatusesAreTheRealServers(t *testing.T) {
	for _, tc := range []struct{ file, url, accept string }{
		{"pods-list-too-large-json.json", "/api/v1/pods?resourceVersion=9000000000000&resourceVersionMatch=NotOlderThan", ""},
		{"pod-get-missing-json.json", "/api/v1/namespaces/a/pods/no-such-pod", ""},
		{"pods-list-invalid-json.json", "/api/v1/pods?resourceVersionMatch=Exact", ""},
		{"pods-list-bad-rv.json", "/api/v1/pods?resourceVersion=abc", ""},
		{"pods-watch-bad-rv.json", "/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion=abc", ""},
		{"pods-list-bad-continue.json", "/api/v1/pods?limit=5&continue=aW4", ""},
		{"pods-list-bad-selector.json", "/api/v1/pods?fieldSelector=spec.color%3Dred", ""},
		{"unknown-resource.txt", "/apis/demo.informer.example/v1/gadgets", ""},
		{"pods-list-expired-exact-json.json", "/api/v1/pods?resourceVersionMatch=Exact&resourceVersion=50", ""},
		{"pods-list-too-large-protobuf.pb", "/api/v1/pods?resourceVersion=9000000000000&resourceVersionMatch=NotOlderThan", protoMedia},
		{"pod-get-missing-protobuf.pb", "/api/v1/namespaces/a/pods/no-such-pod", protoMedia},
		{"pods-list-invalid-protobuf.pb", "/api/v1/pods?resourceVersionMatch=Exact", protoMedia},
		{"widgets-list-protobuf.pb", "/apis/demo.informer.example/v1/namespaces/shop/widgets", protoMedia},
	} {
		t.Run(tc.file, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := get(t, New(withWidgets()), tc.url, "Accept", tc.accept)
				wantCode, wantHeader := recordedHead(t, tc.file)
				if got.code != wantCode {
					t.Errorf("status %d, want %d", got.code, wantCode)
				}
				for _, h := range []string{"Content-Type", "Retry-After", "Cache-Control"} {
					if g, w := got.header.Get(h), wantHeader.Get(h); g != w {
						t.Errorf("%s: %q, want %q", h, g, w)
					}
				}
				want := recorded(t, tc.file)
				if !strings.HasPrefix(got.header.Get("Content-Type"), "application/") {
					if !bytes.Equal(got.body, want) {
						t.Errorf("body %q, want %q", got.body, want)
					}
					return
				}
				if diff := cmp.Diff(plainStatus(t, want), plainStatus(t, got.body)); diff != "" {
					t.Errorf("Status (-real +ours):\n%s", diff)
				}
			})
		})
	}
}

func TestStreamErrorsAreTheRealServers(t *testing.T) {
	for file, url := range map[string]string{
		"pods-watch-expired-json.frames.json":       "/api/v1/pods?watch=true&timeoutSeconds=5&resourceVersion=50",
		"pods-watchlist-too-large-json.frames.json": "/api/v1/pods?" + watchListQuery + "&resourceVersion=9000000000000",
	} {
		synctest.Test(t, func(t *testing.T) {
			got := get(t, New(), url)
			want := recorded(t, file)
			object := func(b []byte) []byte {
				var frame struct {
					Type   string
					Object json.RawMessage
				}
				if err := json.Unmarshal(b, &frame); err != nil || frame.Type != typeError {
					t.Fatalf("%q is not one ERROR event: %v", b, err)
				}
				return frame.Object
			}
			if diff := cmp.Diff(plainStatus(t, object(want)), plainStatus(t, object(got.body))); diff != "" {
				t.Errorf("%s: Status (-real +ours):\n%s", file, diff)
			}
		})
	}
}

// plainStatus decodes a Status and blanks its message. JSON is decoded into a
// map, so that a key too many shows.
func plainStatus(t *testing.T, b []byte) map[string]any {
	t.Helper()
	if bytes.HasPrefix(b, []byte(protoMagic)) {
		u := unwrap(t, b)
		var s metav1.Status
		if err := s.Unmarshal(u.Raw); err != nil {
			t.Fatal(err)
		}
		s.Kind, s.APIVersion = u.Kind, u.APIVersion
		var err error
		if b, err = json.Marshal(&s); err != nil {
			t.Fatal(err)
		}
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if m["message"] == "" || m["message"] == nil {
		t.Error("the Status has no message")
	}
	m["message"] = ""
	return m
}

func recordedHead(t *testing.T, file string) (int, http.Header) {
	t.Helper()
	var index struct {
		Exchanges []struct {
			File     string
			Response struct {
				Status int
				Header http.Header
			}
		}
	}
	if err := json.Unmarshal(recorded(t, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	for _, e := range index.Exchanges {
		if e.File == file {
			return e.Response.Status, e.Response.Header
		}
	}
	t.Fatalf("%s is not in the index", file)
	return 0, nil
}

func firstDifference(got, want []byte) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	cut := func(b []byte) []byte { return b[min(from, len(b)):min(i+60, len(b))] }
	return cmp.Diff(string(cut(want)), string(cut(got)))
}
