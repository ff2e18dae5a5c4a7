package reflector

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/object"
)

// storeOf stores what a list of the recording holds, and counts the objects
// that pass the transform: those that were decoded.
func storeOf[T metav1.Object](t *testing.T, e recorded, gvr schema.GroupVersionResource, o SourceOptions[T]) (src *HTTPSource[T], store map[object.Key]object.Item[T], decoded *int) {
	t.Helper()
	decoded = new(int)
	strip := o.Transform
	o.Transform = func(obj T) (T, error) {
		*decoded++
		if strip != nil {
			return strip(obj)
		}
		return obj, nil
	}
	src = sourceOf(t, again(e), gvr, o)
	items, _, err := listAll(t, src)
	if err != nil || len(items) == 0 || *decoded != len(items) {
		t.Fatalf("%d items, %d decoded, %v", len(items), *decoded, err)
	}
	store = make(map[object.Key]object.Item[T])
	for _, it := range items {
		store[it.Key] = it
	}
	*decoded = 0
	return sourceOf(t, again(e), gvr, o), store, decoded
}

// again is a transport that gives the same answer every time.
func again(e recorded) respond {
	return func(r *http.Request) (*http.Response, error) {
		return answer(200, e.Response.Header, bytes.NewReader(e.body))(r)
	}
}

func lookup[T metav1.Object](store map[object.Key]object.Item[T]) func() Stored[T] {
	return func() Stored[T] {
		return func(key object.Key) (object.Item[T], bool) {
			it, ok := store[key]
			return it, ok
		}
	}
}

// reusesAll: another list of what is stored decodes nothing, and yields the
// stored items; of what differs, it decodes just that.
func reusesAll[T metav1.Object](t *testing.T, e recorded, gvr schema.GroupVersionResource, o SourceOptions[T]) {
	src, store, decoded := storeOf(t, e, gvr, o)
	relist := func(want int, why string) {
		t.Helper()
		*decoded = 0
		items, meta, err := listAll(t, src.Reusing(lookup(store)))
		if err != nil || *decoded != want || meta.Reused != len(store)-want || len(items) != len(store) {
			t.Errorf("%s: %d of %d decoded, %d reused, %v", why, *decoded, len(items), meta.Reused, err)
		}
		for _, it := range items {
			if want == 0 && any(it.Object) != any(store[it.Key].Object) {
				t.Errorf("%s: %s isn't the stored object", why, it.Key)
			}
		}
	}
	relist(0, "nothing has changed")
	var one object.Item[T]
	for _, one = range store {
		break
	}
	for _, c := range []struct {
		why    string
		change func(*object.Item[T])
	}{
		{"another version", func(it *object.Item[T]) { it.ResourceVersion += "0" }},
		{"another object of the same name", func(it *object.Item[T]) { it.UID += "x" }},
		{"no UID", func(it *object.Item[T]) { it.UID = "" }},
		{"no version", func(it *object.Item[T]) { it.ResourceVersion = "" }},
	} {
		changed := one
		c.change(&changed)
		store[one.Key] = changed
		relist(1, c.why)
	}
	delete(store, one.Key)
	*decoded = 0
	if _, meta, err := listAll(t, src.Reusing(lookup(store))); err != nil || *decoded != 1 || meta.Reused != len(store) {
		t.Errorf("one that isn't stored: %d decoded, %d reused, %v", *decoded, meta.Reused, err)
	}
	*decoded = 0
	if items, meta, err := listAll(t, src); err != nil || *decoded != len(items) || meta.Reused != 0 {
		t.Errorf("without a store: %d decoded, %d reused, %v", *decoded, meta.Reused, err)
	}
}

func TestReuse_List(t *testing.T) {
	rec := recording(t)
	for _, enc := range []string{"json", "protobuf"} {
		t.Run("type=pod/encoding="+enc, func(t *testing.T) {
			reusesAll(t, rec["pods-list-"+enc], podsGVR, SourceOptions[*corev1.Pod]{})
		})
		t.Run("type=metadata/encoding="+enc, func(t *testing.T) {
			reusesAll(t, rec["pods-metadata-list-"+enc], podsGVR, SourceOptions[*metav1.PartialObjectMetadata]{})
		})
	}
	t.Run("type=unstructured", func(t *testing.T) {
		reusesAll(t, rec["widgets-list-json"], widgetsGVR, SourceOptions[*unstructured.Unstructured]{})
	})
	// What identifies the object lies beside it.
	t.Run("stripped of its identity", func(t *testing.T) {
		reusesAll(t, rec["pods-list-protobuf"], podsGVR, SourceOptions[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.UID, p.ResourceVersion, p.ManagedFields = "", "", nil
			return p, nil
		}})
	})
}

// With a key of the user's own making, an object's key isn't known before it
// is decoded, and what is stored under namespace and name may be another.
func TestReuse_NotWithOwnKeys(t *testing.T) {
	src, store, decoded := storeOf(t, recording(t)["pods-list-protobuf"], podsGVR, SourceOptions[*corev1.Pod]{KeyFunc: object.KeyOf[*corev1.Pod]})
	items, meta, err := listAll(t, src.Reusing(lookup(store)))
	if err != nil || meta.Reused != 0 || *decoded != len(items) {
		t.Errorf("%d decoded, %d reused, %v", *decoded, meta.Reused, err)
	}
}

// Versions that can't be compared say nothing: some servers have one for all.
func TestReuse_NotWithOddVersions(t *testing.T) {
	for _, rv := range []string{"0", "01", "v7", "-1"} {
		body := `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"` + rv + `"}}]}`
		src, store, decoded := storeOf(t, recorded{body: []byte(body)}, podsGVR, SourceOptions[*corev1.Pod]{})
		if _, meta, err := listAll(t, src.Reusing(lookup(store))); err != nil || meta.Reused != 0 || *decoded != 1 {
			t.Errorf("version %q: %d decoded, %d reused, %v", rv, *decoded, meta.Reused, err)
		}
	}
}

// A quarantined object isn't stored, so it is tried again in each list: what
// is stored under its key is an older version.
func TestReuse_NotQuarantined(t *testing.T) {
	body := `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"5"},"spec":7}]}`
	older := object.Item[*corev1.Pod]{Key: object.Key{Name: "a"}, UID: "u", ResourceVersion: "4", Object: &corev1.Pod{}}
	src := sourceOf(t, answer(200, nil, strings.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{})
	items, meta, err := listAll(t, src.Reusing(lookup(map[object.Key]object.Item[*corev1.Pod]{older.Key: older})))
	if err != nil || len(items) != 0 || len(meta.Quarantined) != 1 || meta.Reused != 0 {
		t.Errorf("%v %+v %v", items, meta, err)
	}
}

// The initial events of a watch-list are reused too, and nothing after them:
// from there on an event is news.
func TestReuse_WatchList(t *testing.T) {
	rec := recording(t)
	for _, enc := range []string{"json", "protobuf"} {
		e := rec["pods-watchlist-"+enc]
		e.body = append(bytes.Clone(e.body), e.body...) // after the end marker, all of it again
		src := sourceOf(t, again(e), podsGVR, SourceOptions[*corev1.Pod]{})
		store := make(map[object.Key]object.Item[*corev1.Pod])
		initial := 0
		watch := func(opts WatchOptions) (reused int) {
			stream, err := src.Reusing(lookup(store)).Watch(context.Background(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			initial = 0
			ended := false
			for {
				ev, err := stream.Next()
				if err != nil {
					return reused
				}
				ended = ended || ev.InitialEventsEnd
				if ev.Reused {
					reused++
				}
				if ev.Type == Added {
					store[ev.Item.Key] = ev.Item
					if !ended {
						initial++
					}
				}
			}
		}
		if got := watch(WatchOptions{ResourceVersion: "1"}); got != 0 || initial == 0 {
			t.Errorf("%s: %d reused of a plain watch with %d", enc, got, initial)
		}
		if got := watch(WatchOptions{SendInitialEvents: true}); got != initial {
			t.Errorf("%s: %d reused of %d initial events", enc, got, initial)
		}
	}
}

// One item of an unchanged list costs a key, whatever its size.
func TestReuse_Allocations(t *testing.T) {
	rec := recording(t)
	for _, enc := range []string{"json", "protobuf"} {
		src, store, _ := storeOf(t, rec["pods-list-"+enc], podsGVR, SourceOptions[*corev1.Pod]{})
		reusing := src.Reusing(lookup(store))
		list := func() float64 {
			return testing.AllocsPerRun(20, func() {
				if _, _, err := listAll(t, reusing); err != nil {
					t.Fatal(err)
				}
			})
		}
		// The buffers, the request and the like; what grows with the items is
		// one name each, and the slice that collects them here.
		if most, got := float64(len(store)+100), list(); got > most {
			t.Errorf("%s: %v allocations for %d items, more than %v", enc, got, len(store), most)
		}
	}
}

// BenchmarkReuse is another list of what is stored already.
func BenchmarkReuse(b *testing.B) {
	rec := recording(b)
	for _, enc := range []string{"json", "protobuf"} {
		b.Run(fmt.Sprintf("encoding=%s", enc), func(b *testing.B) {
			src := sourceOf(b, again(rec["pods-list-"+enc]), podsGVR, SourceOptions[*corev1.Pod]{})
			store := make(map[object.Key]object.Item[*corev1.Pod])
			items, _, err := listAll(b, src)
			if err != nil {
				b.Fatal(err)
			}
			for _, it := range items {
				store[it.Key] = it
			}
			reusing := src.Reusing(lookup(store))
			b.ReportAllocs()
			for b.Loop() {
				reusing.List(context.Background(), ListOptions{}, func(object.Item[*corev1.Pod]) error { return nil })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/object")
		})
	}
}
