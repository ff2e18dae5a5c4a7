package reflector

import (
	"bytes"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

func FuzzJSONList(f *testing.F) {
	rec := recording(f)
	for _, name := range []string{"widgets-list-json", "pods-list-empty-json", "pods-list-forbidden-json"} {
		f.Add(rec[name].body)
	}
	f.Add([]byte(`{"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"7"},"kind":"XList"}`))
	fuzzList[*corev1.Pod](f)
}

func FuzzProtoList(f *testing.F) {
	rec := recording(f)
	for _, name := range []string{"widgets-metadata-list-protobuf", "pods-list-empty-protobuf", "pods-list-forbidden-protobuf"} {
		f.Add(rec[name].body)
	}
	f.Add(pbEnvelope("PodList", pbBytes(listItems, pbPod(f, "a")), pbString(9, "x"), pbMeta("7", "c")))
	fuzzList[*corev1.Pod](f)
}

func FuzzMetadataList(f *testing.F) {
	rec := recording(f)
	for _, name := range []string{"widgets-metadata-list-protobuf", "widgets-list-json", "pods-list-empty-json", "pods-list-forbidden-protobuf"} {
		f.Add(rec[name].body)
	}
	fuzzList[*metav1.PartialObjectMetadata](f)
}

// fuzzList: no crash, no hang, no memory beyond what the bytes are worth, the
// same result wherever reads end.
func fuzzList[T metav1.Object](f *testing.F) {
	const limit = 64 << 10
	var body []byte
	src := sourceOf(f, respond(func(r *http.Request) (*http.Response, error) {
		return answer(200, nil, bytes.NewReader(body))(r)
	}), podsGVR, SourceOptions[T]{MaxItemBytes: limit})
	f.Fuzz(func(t *testing.T, b []byte) {
		body = b
		var got []string
		var head listHead
		var err error
		mayAllocate(t, walkCost(len(body)), func() { got, head, err = names(bytes.NewReader(body), limit) })
		again, head2, err2 := names(iotest.HalfReader(bytes.NewReader(body)), limit)
		if len(body) < limit && ((err == nil) != (err2 == nil) || head != head2 || strings.Join(got, " ") != strings.Join(again, " ")) {
			t.Fatalf("%q %+v %v, but in pieces %q %+v %v", got, head, err, again, head2, err2)
		}

		mayAllocate(t, decodeCost(len(body)), func() { listAll(t, src) })
		items, _, err := listAll(t, src)
		twice, _, err2 := listAll(t, src)
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(items, twice) {
			t.Fatalf("%v %v, but the second time %v %v", items, err, twice, err2)
		}

		// The same list again, decoded only where it isn't stored: the same.
		store := make(map[object.Key]object.Item[T])
		for _, it := range items {
			store[it.Key] = it
		}
		twice, meta, err2 := listAll(t, src.Reusing(lookup(store)))
		if err != nil || looksLikeJSON(body) && !namesOnce(body) && meta.Reused > 0 {
			return // of two members of one name, the peek takes the first
		}
		if err2 != nil || len(twice) != len(items) {
			t.Fatalf("%d items, but %d with reuse: %v", len(items), len(twice), err2)
		}
		for i, it := range twice {
			if want := items[i]; it.Key != want.Key || it.UID != want.UID || it.ResourceVersion != want.ResourceVersion {
				t.Fatalf("item %d is %+v, but with reuse %+v", i, want, it)
			}
		}
	})
}
