package apisim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// countedPod counts how often it is encoded.
type countedPod struct {
	corev1.Pod
	json, proto *atomic.Int64
}

func (p *countedPod) MarshalJSON() ([]byte, error) { p.json.Add(1); return json.Marshal(&p.Pod) }
func (p *countedPod) Marshal() ([]byte, error)     { p.proto.Add(1); return p.Pod.Marshal() }
func (p *countedPod) DeepCopyObject() runtime.Object {
	return &countedPod{*p.Pod.DeepCopy(), p.json, p.proto}
}

// E1: however many lists, gets and watches show an object, at once or later,
// each encoding of it is made once.
func TestEncodedOnce(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "counted.example", Version: "v1", Resource: "pods"}
	s := New(WithResource(Resource{GVR: gvr, Kind: "Counted", Namespaced: true, Prototype: &countedPod{}}))
	var inJSON, inProto atomic.Int64
	const objects = 5
	for i := range objects {
		if _, err := s.Create(gvr, &countedPod{*pod("a", fmt.Sprint("p", i)), &inJSON, &inProto}); err != nil {
			t.Fatal(err)
		}
	}
	if inJSON.Load()+inProto.Load() != 0 {
		t.Error("a write encodes")
	}
	const base = "/apis/counted.example/v1/"
	var wg sync.WaitGroup
	for range 4 {
		for _, accept := range []string{jsonMedia, protoMedia} {
			for _, url := range []string{"pods", "pods?limit=2", "namespaces/a/pods/p1", "pods?watch=1&resourceVersion=0&timeoutSeconds=1"} {
				wg.Go(func() {
					if a := get(t, s, base+url, "Accept", accept); a.code != 200 {
						t.Errorf("%s: %d", url, a.code)
					}
				})
			}
		}
	}
	wg.Wait()
	if inJSON.Load() != objects || inProto.Load() != objects {
		t.Errorf("%d objects were encoded %d times as JSON and %d as protobuf", objects, inJSON.Load(), inProto.Load())
	}
}

// E2: what is answered to which Accept header.
func TestNegotiation(t *testing.T) {
	const jsonStream, protoStream = jsonMedia, protoMedia + ";stream=watch"
	s := New(withWidgets())
	put(t, s, pod("a", "p"))
	if _, err := s.Create(widgets, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w", "namespace": "a"}}}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		accept               string
		list, watch, widgets string // content types, or a code
	}{
		{"", jsonMedia, jsonStream, jsonMedia},
		{"*/*", jsonMedia, jsonStream, jsonMedia},
		{"application/*", jsonMedia, jsonStream, jsonMedia},
		{jsonMedia, jsonMedia, jsonStream, jsonMedia},
		{protoMedia, protoMedia, protoStream, "406"},
		{protoMedia + "," + jsonMedia, protoMedia, protoStream, jsonMedia},
		{jsonMedia + "," + protoMedia, jsonMedia, jsonStream, jsonMedia},
		{jsonMedia + ";q=0.5," + protoMedia, protoMedia, protoStream, "application/json"},
		{"text/html", "406", "406", "406"},
		{"application/yaml", "406", "406", "406"},
		{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", jsonMedia, jsonStream, jsonMedia},
		{"application/json;as=Table;v=v1;g=meta.k8s.io", jsonMedia, jsonStream, jsonMedia},
		{protoMedia + ";as=Table;v=v1;g=meta.k8s.io", "406", "406", "406"},
		{acceptMetaList, jsonMedia, "406", jsonMedia},
		{acceptMeta, "406", jsonStream, "406"},
		{strings.ReplaceAll(acceptMetaProto, "Metadata;", "MetadataList;"), protoMedia, "406", protoMedia},
		{acceptMetaProto, "406", protoStream, "406"},
		{"application/json;stream=watch", jsonMedia, jsonStream, jsonMedia},
		{"application/json;stream=other", "406", "406", "406"},
		{",,;q=x,/", "406", "406", "406"},
	} {
		for url, want := range map[string]string{
			"/api/v1/pods":                              tc.list,
			"/api/v1/pods?watch=1&resourceVersion=1":    tc.watch,
			"/apis/demo.informer.example/v1/widgets":    tc.widgets,
			"/apis/demo.informer.example/v1/widgets?x=": tc.widgets,
		} {
			a := get(t, s, url, "Accept", tc.accept)
			got := a.header.Get("Content-Type")
			if a.code != 200 {
				got = fmt.Sprint(a.code)
			}
			if got != want {
				t.Errorf("%s, Accept %q: %s, want %s", url, tc.accept, got, want)
			}
		}
	}
}

func TestProtobufDecodes(t *testing.T) {
	s := New()
	if err := s.Fill(3); err != nil {
		t.Fatal(err)
	}
	stored, _, _ := s.List(Pods().GVR, "")

	u := unwrap(t, get(t, s, "/api/v1/pods", "Accept", protoMedia).body)
	var l corev1.PodList
	if err := l.Unmarshal(u.Raw); err != nil || u.Kind != "PodList" || u.APIVersion != "v1" || len(l.Items) != 3 || l.ResourceVersion != "103" {
		t.Fatalf("list %s %s of %d @%s: %v", u.APIVersion, u.Kind, len(l.Items), l.ResourceVersion, err)
	}
	for i := range l.Items {
		if !equality.Semantic.DeepEqual(stored[i], &l.Items[i]) {
			t.Errorf("item %d (-stored +sent):\n%s", i, cmp.Diff(stored[i], &l.Items[i]))
		}
	}

	synctest.Test(t, func(t *testing.T) {
		s := New()
		put(t, s, pod("a", "p"))
		frames := protoFrames(t, get(t, s, "/api/v1/pods?"+watchListQuery+"&timeoutSeconds=1", "Accept", acceptMetaProto).body)
		if len(frames) != 2 || frames[0].Type != "ADDED" || frames[1].Type != "BOOKMARK" {
			t.Fatalf("frames %v", frames)
		}
		for i, name := range []string{"p", ""} {
			u := unwrap(t, frames[i].Object.Raw)
			var m metav1.PartialObjectMetadata
			if err := m.Unmarshal(u.Raw); err != nil || u.Kind != "PartialObjectMetadata" || u.APIVersion != "meta.k8s.io/v1" || m.Name != name || m.ResourceVersion != "101" {
				t.Errorf("frame %d: %s %v %v", i, u.Kind, m, err)
			}
		}
		frames = protoFrames(t, get(t, s, "/api/v1/pods?watch=1&resourceVersion=1", "Accept", protoMedia).body)
		if len(frames) != 1 || frames[0].Type != "ERROR" {
			t.Fatalf("frames %v", frames)
		}
		u := unwrap(t, frames[0].Object.Raw)
		var st metav1.Status
		if err := st.Unmarshal(u.Raw); err != nil || u.Kind != "Status" || st.Code != 410 {
			t.Errorf("ERROR holds %s %v %v", u.Kind, st, err)
		}
	})
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// E3: lists above the threshold, only if accepted, and with the same bytes.
func TestListGzip(t *testing.T) {
	s, plain := New(), New(WithoutCompression())
	for _, s := range []*Server{s, plain} {
		if err := s.Fill(60); err != nil {
			t.Fatal(err)
		}
	}
	for _, accept := range []string{jsonMedia, protoMedia} {
		want := get(t, s, "/api/v1/pods", "Accept", accept)
		if want.header.Get("Content-Encoding") != "" || len(want.body) < gzipThreshold {
			t.Fatalf("not asked for: %v, %d bytes", want.header, len(want.body))
		}
		z := get(t, s, "/api/v1/pods", "Accept", accept, "Accept-Encoding", "deflate, gzip;q=0.5")
		if z.header.Get("Content-Encoding") != "gzip" || z.header.Get("Vary") != "Accept-Encoding" || !bytes.Equal(gunzip(t, z.body), want.body) {
			t.Errorf("%s: headers %v, or another content", accept, z.header)
		}
		if got := s.Stats().BytesSent; got < int64(len(want.body)+len(z.body)) {
			t.Errorf("%d bytes counted", got)
		}
		small := get(t, s, "/api/v1/pods?limit=10", "Accept", accept, "Accept-Encoding", "gzip")
		if small.header.Get("Content-Encoding") != "" || len(small.body) > gzipThreshold {
			t.Errorf("%s: a short list is compressed", accept)
		}
		off := get(t, plain, "/api/v1/pods", "Accept", accept, "Accept-Encoding", "gzip")
		if off.header.Get("Content-Encoding") != "" {
			t.Error("compressed in spite of WithoutCompression")
		}
	}
}

// E3: a watch that begins with the state has one gzip member for each flush,
// and no event waits for the next member.
func TestWatchGzip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		put(t, s, pod("a", "p"))
		w := watch(t, s, "/api/v1/pods?"+watchListQuery+"&timeoutSeconds=9", "Accept-Encoding", "gzip")
		if w.resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatal("not compressed")
		}
		go func() {
			for i := range 3 {
				time.Sleep(time.Second)
				put(t, s, pod("a", "p", "i", fmt.Sprint(i)))
			}
		}()
		var wire bytes.Buffer
		z, err := gzip.NewReader(io.TeeReader(w.resp.Body, &wire))
		if err != nil {
			t.Fatal(err)
		}
		w.dec = json.NewDecoder(z)
		events, _ := w.rest(t)
		if want := lines("ADDED a/p@101", "BOOKMARK @101 end", "MODIFIED a/p@102", "MODIFIED a/p@103", "MODIFIED a/p@104", "BOOKMARK @104"); text(events) != want {
			t.Fatalf("got\n%s", text(events))
		}
		for i, at := range []time.Duration{0, 0, time.Second, 2 * time.Second, 3 * time.Second, 7 * time.Second} {
			if events[i].at != at {
				t.Errorf("%v came at %v, want %v", events[i], events[i].at, at)
			}
		}
		if members := bytes.Count(wire.Bytes(), []byte("\x1f\x8b\x08")); members != 5 {
			t.Errorf("%d gzip members, want 5", members)
		}

		plain := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=104&timeoutSeconds=1", "Accept-Encoding", "gzip")
		if plain.resp.Header.Get("Content-Encoding") != "" {
			t.Error("a plain watch is compressed")
		}
	})
}

// An object that cannot be encoded is an error, not half an answer.
func TestUnencodable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(withWidgets())
		bad := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w", "namespace": "a"}}}
		if _, err := s.Create(widgets, bad); err != nil {
			t.Fatal(err)
		}
		s.store.tables[widgets].entries["a/w"].head.obj.(*unstructured.Unstructured).Object["spec"] = func() {}
		const url = "/apis/demo.informer.example/v1/widgets"
		if a := get(t, s, url); a.code != http.StatusInternalServerError || a.status(t).Reason != metav1.StatusReasonInternalError {
			t.Errorf("list: %d %s", a.code, a.body)
		}
		if events, end := watch(t, s, url+"?watch=1").rest(t); text(events) != "ERROR 500" || end != 0 {
			t.Errorf("watch: %v after %v", events, end)
		}
		// Metadata is all right.
		if a := get(t, s, url, "Accept", acceptMetaList); a.list(t).keys() != "a/w" {
			t.Errorf("metadata: %d %s", a.code, a.body)
		}
	})
}
