package reflector

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apitesting "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"informer.example/object"
)

// peer is client-go's client, with its own negotiation and decoders, on the
// same bytes.
type peer struct {
	codecs serializer.CodecFactory
	client *rest.RESTClient
	t      testing.TB
	body   *recorded
}

func newPeer(t testing.TB) *peer {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	p := &peer{t: t, codecs: serializer.NewCodecFactory(scheme), body: &recorded{}}
	transport := respond(func(r *http.Request) (*http.Response, error) { return p.body.transport()(r) })
	var err error
	p.client, err = rest.RESTClientFor(&rest.Config{Host: "http://server", Transport: transport, QPS: -1, APIPath: "/api",
		ContentConfig: rest.ContentConfig{GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: p.codecs.WithoutConversion()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// unzip takes the compression off, as Go's transport does for client-go.
func unzip(t testing.TB, e recorded) recorded {
	if e.Response.Header.Get("Content-Encoding") != "gzip" {
		return e
	}
	r, err := gzip.NewReader(bytes.NewReader(e.body))
	if err == nil {
		e.body, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (p *peer) list(e recorded, into runtime.Object) error {
	*p.body = unzip(p.t, e)
	return p.client.Get().Resource("pods").Do(context.Background()).Into(into)
}

// watch returns the events, and how the stream ended: false for an ERROR event.
func (p *peer) watch(e recorded) (events []Event[metav1.Object], clean bool, err error) {
	*p.body = unzip(p.t, e)
	w, err := p.client.Get().Resource("pods").Watch(context.Background())
	if err != nil {
		return nil, false, err
	}
	defer w.Stop()
	for ev := range w.ResultChan() {
		if ev.Type == "ERROR" {
			return events, false, nil
		}
		kind, err := eventType([]byte(ev.Type))
		if err != nil {
			return events, false, err
		}
		obj := ev.Object.(metav1.Object)
		mine := Event[metav1.Object]{Type: kind, InitialEventsEnd: obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"}
		if kind == Bookmark {
			mine.Item.ResourceVersion = obj.GetResourceVersion()
		} else if mine.Item, err = object.NewItem(obj, nil); err != nil {
			return events, false, err
		}
		events = append(events, mine)
	}
	return events, true, nil
}

// sameList: both decoders take the list, and make the same of it; or neither does.
func sameList[T metav1.Object, L runtime.Object](t *testing.T, p *peer, e recorded, list L) {
	t.Helper()
	theirErr := p.list(e, list)
	items, head, err := listAll(t, sourceOf(t, e.transport(), podsGVR, SourceOptions[T]{}))
	if (err == nil) != (theirErr == nil) {
		t.Fatalf("ours: %v; client-go's: %v", err, theirErr)
	}
	if err != nil {
		return
	}
	theirs, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		t.Fatal(err)
	}
	if head.ResourceVersion != m.GetResourceVersion() || head.Continue != m.GetContinue() || len(head.Quarantined) > 0 {
		t.Errorf("ours %+v; client-go's %+v", head, m)
	}
	if len(items) != len(theirs) {
		t.Fatalf("%d items, client-go has %d", len(items), len(theirs))
	}
	for i, it := range items {
		// In a JSON list of metadata client-go leaves each item its kind; in a
		// protobuf one there is none. Here it is the Go type that says it.
		theirs[i].GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if !reflect.DeepEqual(any(it.Object), any(theirs[i])) {
			t.Fatalf("item %d: client-go's, and ours:\n%s", i, cmp.Diff(any(theirs[i]), any(it.Object)))
		}
	}
}

func sameWatch[T metav1.Object](t *testing.T, p *peer, e recorded) {
	t.Helper()
	theirs, clean, theirErr := p.watch(e)
	if theirErr != nil {
		t.Fatal(theirErr)
	}
	ours, err := watchAll(t, sourceOf(t, e.transport(), podsGVR, SourceOptions[T]{}))
	if clean != (err == io.EOF) || len(ours) != len(theirs) {
		t.Fatalf("ours: %d events, %v; client-go's: %d, clean %v", len(ours), err, len(theirs), clean)
	}
	for i, ev := range ours {
		want := theirs[i]
		if ev.Quarantined != nil || ev.Type != want.Type || ev.InitialEventsEnd != want.InitialEventsEnd ||
			ev.Item.ResourceVersion != want.Item.ResourceVersion || ev.Item.Key != want.Item.Key || ev.Item.UID != want.Item.UID {
			t.Fatalf("event %d: client-go's %+v, ours %+v", i, want, ev)
		}
		if ev.Type != Bookmark && !reflect.DeepEqual(any(ev.Item.Object), any(want.Item.Object)) {
			t.Fatalf("event %d: client-go's, and ours:\n%s", i, cmp.Diff(any(want.Item.Object), any(ev.Item.Object)))
		}
	}
}

func TestDifferential_Recorded(t *testing.T) {
	p := newPeer(t)
	for name, e := range recording(t) {
		switch {
		case e.Response.Status != 200 || strings.HasPrefix(name, "widgets") || !strings.HasPrefix(name, "pods-"):
		case strings.HasPrefix(name, "pods-metadata-list"):
			t.Run(name, func(t *testing.T) {
				sameList[*metav1.PartialObjectMetadata](t, p, e, &metav1.PartialObjectMetadataList{})
			})
		case strings.HasPrefix(name, "pods-metadata-watch"):
			t.Run(name, func(t *testing.T) { sameWatch[*metav1.PartialObjectMetadata](t, p, e) })
		case strings.Contains(name, "-list-"):
			t.Run(name, func(t *testing.T) { sameList[*corev1.Pod](t, p, e, &corev1.PodList{}) })
		case strings.Contains(name, "watch"):
			t.Run(name, func(t *testing.T) { sameWatch[*corev1.Pod](t, p, e) })
		}
	}
}

// TestDifferential_Generated: pods with anything in any field, as a server
// would encode them.
func TestDifferential_Generated(t *testing.T) {
	p := newPeer(t)
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		info, ok := runtime.SerializerInfoForMediaType(p.codecs.SupportedMediaTypes(), contentType)
		if !ok {
			t.Fatal("no serializer for " + contentType)
		}
		encode := func(obj runtime.Object, kind string) []byte {
			obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
			raw, err := runtime.Encode(info.Serializer, obj)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		filler := apitesting.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), p.codecs).NumElements(0, 3).NilChance(0.3)
		for i := range 30 {
			list := &corev1.PodList{Items: make([]corev1.Pod, 3)}
			list.ResourceVersion = "7"
			for j := range list.Items {
				pod := &list.Items[j]
				filler.Fill(pod)
				pod.TypeMeta, pod.Namespace, pod.Name = metav1.TypeMeta{}, "n", fmt.Sprint("p", j)
			}
			e := recorded{body: encode(list, "PodList")}
			e.Response.Status, e.Response.Header = 200, http.Header{"Content-Type": {contentType}}
			t.Run(fmt.Sprintf("list/%s/%d", contentType, i), func(t *testing.T) { sameList[*corev1.Pod](t, p, e, &corev1.PodList{}) })

			var frames bytes.Buffer
			for j := range list.Items {
				frames.Write(watchFrame(t, p, contentType, encode(&list.Items[j], "Pod")))
			}
			e.body = frames.Bytes()
			if contentType == runtime.ContentTypeProtobuf {
				e.Response.Header = http.Header{"Content-Type": {contentType + ";stream=watch"}}
			}
			t.Run(fmt.Sprintf("watch/%s/%d", contentType, i), func(t *testing.T) { sameWatch[*corev1.Pod](t, p, e) })
		}
	}
}

// watchFrame wraps an encoded object as a server does.
func watchFrame(t *testing.T, p *peer, contentType string, obj []byte) []byte {
	info, _ := runtime.SerializerInfoForMediaType(p.codecs.SupportedMediaTypes(), contentType)
	var out bytes.Buffer
	err := info.StreamSerializer.Serializer.Encode(&metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: obj}},
		info.StreamSerializer.Framer.NewFrameWriter(&out))
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
