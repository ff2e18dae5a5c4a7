package reflector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
		{"not-listable", 405, apierrors.IsMethodNotSupported, classNoVerb, "doesn't support list"},
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
