package compare

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"informer.example/object"
	"informer.example/reflector"
)

// listSize is how many pods the lists have: those that a real server sent, many
// times over, each time with other names.
const listSize = 960

var contentTypes = map[string]string{"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf}

// BenchmarkDecode compares decoding alone, of the same bytes, from the body of
// an answer to objects. The answer comes from memory. What counts is
// cpu-ns/object: the processor time of the whole process, so that work that is
// spread over goroutines, and that of the collector, is in it.
//
// impl=clientgo is its typed client, which decodes as its informers do:
// Request.Into for a list, and for a watch the decoder, the StreamWatcher and
// its channel, which is how its events come. impl=ours is an HTTPSource.
//
// what=relist is a list of which nothing has changed.
//
//	go test ./compare -run '^$' -bench Decode -count 10 | tee decode.txt && benchstat -col /impl decode.txt
func BenchmarkDecode(b *testing.B) {
	for _, enc := range []string{"json", "protobuf"} {
		list, watch := listBytes(b, enc), watchBytes(b, enc)
		ours, theirs := oursOn(b, enc), clientGoOn(b, enc)
		same(b, "list", theirs.list(b, list), ours.list(b, list))
		same(b, "watch", theirs.watch(b, watch), ours.watch(b, watch))

		relist := ours.reusing(b, list)
		same(b, "relist", theirs.list(b, list), relist.list(b, list))

		run := func(what, impl string, decode func(testing.TB, []byte) []*corev1.Pod, body []byte) {
			b.Run(fmt.Sprintf("what=%s/encoding=%s/impl=%s", what, enc, impl), func(b *testing.B) {
				measure(b, body, decode)
			})
		}
		run("list", "clientgo", theirs.list, list)
		run("list", "ours", ours.list, list)
		run("watch", "clientgo", theirs.watch, watch)
		run("watch", "ours", ours.watch, watch)
		run("relist", "clientgo", theirs.list, list)
		run("relist", "ours", relist.list, list)
	}
}

func measure(b *testing.B, body []byte, decode func(testing.TB, []byte) []*corev1.Pod) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	objects := 0
	before := processorTime(b)
	for b.Loop() {
		objects += len(decode(b, body))
	}
	used := processorTime(b) - before
	b.ReportMetric(float64(used.Nanoseconds())/float64(objects), "cpu-ns/object")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func same(b *testing.B, what string, want, got []*corev1.Pod) {
	b.Helper()
	if len(want) == 0 || !reflect.DeepEqual(want, got) {
		b.Fatalf("%s: client-go's %d objects and ours, %d, differ:\n%s", what, len(want), len(got), cmp.Diff(want, got))
	}
}

// body is a transport that answers everything with the same bytes.
type body struct {
	contentType string
	bytes       []byte
}

func (t *body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {t.contentType}}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(t.bytes)),
	}, nil
}

type ourDecoder struct {
	transport *body
	source    reflector.Source[*corev1.Pod]
}

func oursOn(b *testing.B, enc string) *ourDecoder {
	t := &body{contentType: contentTypes[enc]}
	source, err := reflector.NewHTTPSource(&rest.Config{Host: "http://server", Transport: t},
		corev1.SchemeGroupVersion.WithResource("pods"), reflector.SourceOptions[*corev1.Pod]{})
	if err != nil {
		b.Fatal(err)
	}
	return &ourDecoder{transport: t, source: source}
}

// reusing is a decoder that has decoded the list before.
func (d *ourDecoder) reusing(b *testing.B, list []byte) *ourDecoder {
	stored := make(map[object.Key]object.Item[*corev1.Pod], listSize)
	for _, pod := range d.list(b, list) {
		it, err := object.NewItem(pod, nil)
		if err != nil {
			b.Fatal(err)
		}
		stored[it.Key] = it
	}
	begin := func() reflector.Stored[*corev1.Pod] {
		return func(key object.Key) (object.Item[*corev1.Pod], bool) { it, ok := stored[key]; return it, ok }
	}
	return &ourDecoder{transport: d.transport, source: d.source.(reflector.Reuser[*corev1.Pod]).Reusing(begin)}
}

func (d *ourDecoder) list(t testing.TB, list []byte) []*corev1.Pod {
	d.transport.bytes = list
	var pods []*corev1.Pod
	_, err := d.source.List(context.Background(), reflector.ListOptions{}, func(it object.Item[*corev1.Pod]) error {
		pods = append(pods, it.Object)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

func (d *ourDecoder) watch(t testing.TB, watch []byte) []*corev1.Pod {
	d.transport.bytes = watch
	stream, err := d.source.Watch(context.Background(), reflector.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var pods []*corev1.Pod
	for {
		ev, err := stream.Next()
		switch {
		case err == io.EOF:
			return pods
		case err != nil || ev.Quarantined != nil:
			t.Fatal(err, ev.Quarantined)
		case ev.Type != reflector.Bookmark:
			pods = append(pods, ev.Item.Object)
		}
	}
}

type clientGoDecoder struct {
	transport *body
	client    kubernetes.Interface
}

func clientGoOn(b *testing.B, enc string) *clientGoDecoder {
	t := &body{contentType: contentTypes[enc]}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: t, QPS: -1,
		ContentConfig: rest.ContentConfig{AcceptContentTypes: contentTypes[enc], ContentType: contentTypes[enc]}})
	if err != nil {
		b.Fatal(err)
	}
	return &clientGoDecoder{transport: t, client: client}
}

func (d *clientGoDecoder) list(t testing.TB, list []byte) []*corev1.Pod {
	d.transport.contentType, d.transport.bytes = contentTypeOf(list), list
	got, err := d.client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := make([]*corev1.Pod, len(got.Items))
	for i := range got.Items {
		pods[i] = &got.Items[i]
	}
	return pods
}

func (d *clientGoDecoder) watch(t testing.TB, watch []byte) []*corev1.Pod {
	d.transport.contentType, d.transport.bytes = contentTypeOf(watch), watch
	if d.transport.contentType == runtime.ContentTypeProtobuf {
		d.transport.contentType += ";stream=watch"
	}
	w, err := d.client.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var pods []*corev1.Pod
	for ev := range w.ResultChan() {
		switch ev.Type {
		case "ADDED", "MODIFIED", "DELETED":
			pods = append(pods, ev.Object.(*corev1.Pod))
		case "ERROR":
			t.Fatal(ev.Object)
		}
	}
	return pods
}

func contentTypeOf(bytes []byte) string {
	if bytes[0] == '{' {
		return runtime.ContentTypeJSON
	}
	return runtime.ContentTypeProtobuf
}

// watchBytes is what a real server sent on a watch, many times over.
func watchBytes(b *testing.B, enc string) []byte {
	file := map[string]string{"json": "pods-watch-json.frames.json", "protobuf": "pods-watch-protobuf.frames.pb"}[enc]
	return bytes.Repeat(recorded(b, file), 50)
}

// listBytes is a list of listSize pods, made of those that a real server sent.
func listBytes(b *testing.B, enc string) []byte {
	file := map[string]string{"json": "pods-list-json.json", "protobuf": "pods-list-protobuf.pb"}[enc]
	raw := recorded(b, file)
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentTypes[enc])
	if !ok {
		b.Fatal("no serializer")
	}
	var list corev1.PodList
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, &list); err != nil {
		b.Fatal(err)
	}
	encode := func() []byte {
		list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "PodList"})
		out, err := runtime.Encode(info.Serializer, &list)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	if !bytes.Equal(bytes.TrimSpace(encode()), bytes.TrimSpace(raw)) {
		b.Fatal("encoded again, the recorded list isn't what it was")
	}
	few := list.Items
	list.Items = nil
	for i := range listSize {
		pod := few[i%len(few)].DeepCopy()
		pod.Name = fmt.Sprintf("%s-%d", pod.Name, i)
		list.Items = append(list.Items, *pod)
	}
	return encode()
}

func recorded(b *testing.B, file string) []byte {
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "wire", file))
	if err != nil {
		b.Fatal(err)
	}
	return raw
}
