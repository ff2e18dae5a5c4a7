package reflector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
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

// podsOf is what client-go's decoders make of a recorded list.
func podsOf(t testing.TB, e recorded) *corev1.PodList {
	t.Helper()
	list := &corev1.PodList{}
	if bytes.HasPrefix(e.body, []byte(protobufMagic)) {
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(e.body[4:]); err != nil {
			t.Fatal(err)
		}
		if err := list.Unmarshal(unknown.Raw); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if err := kjson.Unmarshal(e.body, list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRecorded_PodLists(t *testing.T) {
	rec := recording(t)
	for name, plain := range map[string]string{
		"pods-list-json":              "pods-list-json",
		"pods-list-protobuf":          "pods-list-protobuf",
		"pods-list-gzip-json":         "pods-list-json",
		"pods-list-gzip-protobuf":     "pods-list-protobuf",
		"pods-list-empty-json":        "pods-list-empty-json",
		"pods-list-empty-protobuf":    "pods-list-empty-protobuf",
		"pods-list-page1-json":        "pods-list-page1-json",
		"pods-list-page2-protobuf":    "pods-list-page2-protobuf",
		"pods-list-page3-json":        "pods-list-page3-json",
		"pods-list-inconsistent-json": "pods-list-inconsistent-json",
	} {
		t.Run(name, func(t *testing.T) {
			items, meta, err := listAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
			if err != nil {
				t.Fatal(err)
			}
			want := podsOf(t, rec[plain])
			wantMeta := ListMeta{ResourceVersion: want.ResourceVersion, Continue: want.Continue}
			if want.RemainingItemCount != nil {
				wantMeta.RemainingItemCount = *want.RemainingItemCount
			}
			if strings.Contains(name, "gzip") { // recorded a moment later
				wantMeta.ResourceVersion = meta.ResourceVersion
			}
			if diff := cmp.Diff(wantMeta, meta); diff != "" {
				t.Error(diff)
			}
			if len(items) != len(want.Items) {
				t.Fatalf("%d items, want %d", len(items), len(want.Items))
			}
			for i := range items {
				pod := &want.Items[i]
				wantItem := object.Item[*corev1.Pod]{
					Key: object.Key{Namespace: pod.Namespace, Name: pod.Name}, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Object: pod,
				}
				if diff := cmp.Diff(wantItem, items[i]); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func TestRecorded_WidgetLists(t *testing.T) {
	rec := recording(t)
	var oracle unstructured.UnstructuredList
	if err := oracle.UnmarshalJSON(rec["widgets-list-json"].body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"widgets-list-json", "widgets-list-either"} {
		items, meta, err := listAll(t, sourceOf(t, rec[name].transport(), widgetsGVR, SourceOptions[*unstructured.Unstructured]{}))
		if err != nil {
			t.Fatal(err)
		}
		if meta.ResourceVersion != oracle.GetResourceVersion() {
			t.Errorf("%s: resourceVersion %q, want %q", name, meta.ResourceVersion, oracle.GetResourceVersion())
		}
		if len(items) != len(oracle.Items) || len(items) == 0 {
			t.Fatalf("%s: %d items, want %d", name, len(items), len(oracle.Items))
		}
		for i, it := range items {
			if diff := cmp.Diff(oracle.Items[i].Object, it.Object.Object); diff != "" {
				t.Error(name, diff)
			}
		}
	}

	// The same as a user's own struct, and its metadata in protobuf.
	own, _, err := listAll(t, sourceOf(t, rec["widgets-list-json"].transport(), widgetsGVR, SourceOptions[*widget]{}))
	if err != nil || len(own) != len(oracle.Items) {
		t.Fatalf("%d items of a user's struct, %v", len(own), err)
	}
	partial, _, err := listAll(t, sourceOf(t, rec["widgets-metadata-list-protobuf"].transport(), widgetsGVR, SourceOptions[*metav1.PartialObjectMetadata]{}))
	if err != nil || len(partial) != len(oracle.Items) {
		t.Fatalf("%d items of metadata, %v", len(partial), err)
	}
	for i := range oracle.Items {
		if own[i].UID != oracle.Items[i].GetUID() || own[i].Object.Kind != "" {
			t.Errorf("user's struct: %+v", own[i])
		}
		if partial[i].UID != oracle.Items[i].GetUID() || partial[i].Object.Kind != "" {
			t.Errorf("metadata: %+v", partial[i])
		}
	}
}

// TestRecorded_BuiltInsAsUnstructured: typed lists leave kind and apiVersion
// out of their items.
func TestRecorded_BuiltInsAsUnstructured(t *testing.T) {
	rec := recording(t)
	var oracle unstructured.UnstructuredList
	if err := oracle.UnmarshalJSON(rec["pods-list-json"].body); err != nil {
		t.Fatal(err)
	}
	items, _, err := listAll(t, sourceOf(t, rec["pods-list-json"].transport(), podsGVR, SourceOptions[*unstructured.Unstructured]{}))
	if err != nil || len(items) != len(oracle.Items) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	for i, it := range items {
		if it.Object.GetKind() != "Pod" || it.Object.GetAPIVersion() != "v1" {
			t.Fatalf("kind %q, apiVersion %q", it.Object.GetKind(), it.Object.GetAPIVersion())
		}
		if diff := cmp.Diff(oracle.Items[i].Object, it.Object.Object); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestRecorded_MetadataLists(t *testing.T) {
	rec := recording(t)
	type items = []object.Item[*metav1.PartialObjectMetadata]
	var both [2]items
	for i, name := range []string{"pods-metadata-list-json", "pods-metadata-list-protobuf"} {
		var err error
		if both[i], _, err = listAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{})); err != nil {
			t.Fatal(err)
		}
	}
	if len(both[0]) == 0 {
		t.Fatal("no items")
	}
	if diff := cmp.Diff(both[0], both[1]); diff != "" {
		t.Errorf("JSON and protobuf differ: %s", diff)
	}
	// A server that can't reduce sends the objects whole.
	whole, _, err := listAll(t, sourceOf(t, rec["pods-list-json"].transport(), podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{}))
	if err != nil || len(whole) == 0 {
		t.Fatalf("%d items, %v", len(whole), err)
	}
}

// lines reads what the recorded watch holds, with an independent decoder.
func lines(t testing.TB, body []byte) (words []string) {
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		var ev struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := dec.Decode(&ev); err == io.EOF {
			return words
		} else if err != nil {
			t.Fatal(err)
		}
		word := ev.Type + " " + ev.Object.Namespace + "/" + ev.Object.Name + " " + ev.Object.ResourceVersion
		if ev.Object.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			word += " end"
		}
		words = append(words, word)
	}
}

func TestRecorded_Watches(t *testing.T) {
	rec := recording(t)
	for name, plain := range map[string]string{
		"pods-watch-json":              "pods-watch-json",
		"pods-watch-protobuf":          "pods-watch-json",
		"pods-watchlist-json":          "pods-watchlist-json",
		"pods-watchlist-protobuf":      "pods-watchlist-json",
		"pods-watchlist-gzip-json":     "",
		"pods-watchlist-gzip-protobuf": "",
		"pods-watchlist-empty-json":    "pods-watchlist-empty-json",
		"pods-watch-implicit":          "pods-watch-implicit",
		"pods-watch-selector":          "pods-watch-selector",
		"pods-watch-quiet":             "pods-watch-quiet",
		"pods-metadata-watch-json":     "pods-metadata-watch-json",
	} {
		t.Run(name, func(t *testing.T) {
			for kind, got := range map[string]func() ([]string, error){
				"pods":         func() ([]string, error) { return words(t, rec[name], SourceOptions[*corev1.Pod]{}) },
				"metadata":     func() ([]string, error) { return words(t, rec[name], SourceOptions[*metav1.PartialObjectMetadata]{}) },
				"unstructured": func() ([]string, error) { return words(t, rec[name], SourceOptions[*unstructured.Unstructured]{}) },
			} {
				if kind == "unstructured" && strings.Contains(name, "protobuf") {
					continue
				}
				got, err := got()
				if err != io.EOF {
					t.Fatalf("%s: ended with %v, want io.EOF", kind, err)
				}
				if plain == "" {
					if len(got) < 10 {
						t.Errorf("%s: only %q", kind, got)
					}
					continue
				}
				if diff := cmp.Diff(lines(t, rec[plain].body), got); diff != "" {
					t.Error(kind, diff)
				}
			}
		})
	}
}

func words[T metav1.Object](t testing.TB, e recorded, o SourceOptions[T]) ([]string, error) {
	events, err := watchAll(t, sourceOf(t, e.transport(), podsGVR, o))
	var words []string
	for _, ev := range events {
		key := ev.Item.Key
		word := ev.Type.String() + " " + key.Namespace + "/" + key.Name + " " + ev.Item.ResourceVersion
		if ev.InitialEventsEnd {
			word += " end"
		}
		words = append(words, word)
		if ev.Quarantined != nil {
			t.Errorf("%s: %v", word, ev.Quarantined)
		}
	}
	return words, err
}

// TestRecorded_SameFromBothEncodings: an event means the same in either.
func TestRecorded_SameFromBothEncodings(t *testing.T) {
	rec := recording(t)
	inJSON, _ := watchAll(t, sourceOf(t, rec["pods-watch-json"].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
	inProto, _ := watchAll(t, sourceOf(t, rec["pods-watch-protobuf"].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
	if len(inJSON) == 0 || len(inJSON) != len(inProto) {
		t.Fatalf("%d events in JSON, %d in protobuf", len(inJSON), len(inProto))
	}
	for i := range inJSON {
		if diff := cmp.Diff(inProto[i], inJSON[i], cmp.Comparer(sameManagedFields)); diff != "" {
			t.Error(diff)
		}
	}
}

// sameManagedFields leaves out how the raw JSON inside is spaced.
func sameManagedFields(a, b *metav1.FieldsV1) bool {
	return (a == nil) == (b == nil)
}

func TestRecorded_Errors(t *testing.T) {
	rec := recording(t)
	yes := func(error) bool { return true }
	for _, c := range []struct {
		name  string
		code  int
		is    func(error) bool
		class errorClass
		say   string
	}{
		{"pods-list-unauthorized-json", 401, apierrors.IsUnauthorized, classRefused, "credentials"},
		{"pods-list-unauthorized-protobuf", 401, apierrors.IsUnauthorized, classRefused, "credentials"},
		{"pods-list-forbidden-json", 403, apierrors.IsForbidden, classRefused, `the verb "list" on resource "pods"`},
		{"pods-list-forbidden-protobuf", 403, apierrors.IsForbidden, classRefused, `the verb "list" on resource "pods"`},
		{"pods-list-anonymous", 403, apierrors.IsForbidden, classRefused, "system:anonymous"},
		{"unknown-resource", 404, apierrors.IsNotFound, classRefused, "doesn't serve pods in v1"},
		{"not-listable", 405, apierrors.IsMethodNotSupported, classRefused, "doesn't support list"},
		{"widgets-list-protobuf", 406, apierrors.IsNotAcceptable, classInvalid, "another encoding"},
		{"pods-list-too-large-json", 504, apierrors.IsTimeout, classTooLarge, "Too large resource version"},
		{"pods-list-too-large-protobuf", 504, apierrors.IsTimeout, classTooLarge, "Too large resource version"},
		{"pods-list-invalid-json", 422, apierrors.IsInvalid, classInvalid, "resourceVersionMatch"},
		{"pods-list-invalid-protobuf", 422, apierrors.IsInvalid, classInvalid, "resourceVersionMatch"},
		{"pods-list-bad-rv", 400, apierrors.IsBadRequest, classInvalid, ""},
		{"pods-list-bad-continue", 400, apierrors.IsBadRequest, classInvalid, "continue"},
		{"pods-list-bad-selector", 400, apierrors.IsBadRequest, classInvalid, "spec.color"},
		{"pods-list-expired-continue-json", 410, apierrors.IsResourceExpired, classExpired, ""},
		{"pods-list-expired-continue-protobuf", 410, apierrors.IsResourceExpired, classExpired, ""},
		{"pods-list-expired-exact-json", 410, apierrors.IsResourceExpired, classExpired, ""},
		{"pods-watch-bad-rv", 500, yes, classPassing, "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := SourceOptions[*corev1.Pod]{Encoding: EncodingJSON}
			src := sourceOf(t, rec[c.name].transport(), podsGVR, o)
			_, _, err := listAll(t, src)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != c.code || !c.is(err) {
				t.Fatalf("got %#v", err)
			}
			if class, _ := classify(err); class != c.class {
				t.Errorf("class %d, want %d", class, c.class)
			}
			if !strings.Contains(err.Error(), c.say) {
				t.Errorf("%q doesn't say %q", err, c.say)
			}
			if _, err := src.Watch(context.Background(), WatchOptions{}); err == nil {
				t.Error("a watch succeeds")
			}
		})
	}
	for _, name := range []string{"pods-watch-expired-json", "pods-watch-expired-protobuf", "widgets-watch-expired"} {
		events, err := watchAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
		if len(events) > 0 || !apierrors.IsResourceExpired(err) {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
	}
	for _, name := range []string{"pods-watchlist-too-large-json", "pods-watchlist-too-large-protobuf"} {
		_, err := watchAll(t, sourceOf(t, rec[name].transport(), podsGVR, SourceOptions[*corev1.Pod]{}))
		if class, _ := classify(err); class != classTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A Status with code 200 is no list either.
	for _, name := range []string{"pods-list-forbidden-json", "pods-list-forbidden-protobuf"} {
		e := rec[name]
		e.Response.Status = 200
		if _, _, err := listAll(t, sourceOf(t, e.transport(), podsGVR, SourceOptions[*corev1.Pod]{})); !apierrors.IsForbidden(err) {
			t.Errorf("%s as 200: %v", name, err)
		}
	}
}
