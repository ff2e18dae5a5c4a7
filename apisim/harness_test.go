package apisim

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// widgets is the custom resource of the tests.
var widgets = schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}

func withWidgets() Option { return WithResource(CustomResource(widgets, "Widget", true)) }

const (
	acceptProto     = protoMedia
	acceptMetaList  = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	acceptMeta      = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	acceptMetaProto = protoMedia + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	watchListQuery  = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)

func pod(namespace, name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for i := 0; i+1 < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&p.ObjectMeta, labels[i], labels[i+1])
	}
	return p
}

// put upserts an object and returns its RV.
func put(t testing.TB, s *Server, obj runtime.Object) string {
	t.Helper()
	gvr := Pods().GVR
	if _, ok := obj.(*corev1.ConfigMap); ok {
		gvr = ConfigMaps().GVR
	}
	stored, err := s.Apply(gvr, obj)
	if err != nil {
		t.Fatal(err)
	}
	return stored.(metav1.Object).GetResourceVersion()
}

func remove(t testing.TB, s *Server, namespace, name string) string {
	t.Helper()
	last, err := s.Delete(Pods().GVR, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return last.(metav1.Object).GetResourceVersion()
}

// answer is a whole response.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

func (a answer) status(t testing.TB) metav1.Status {
	t.Helper()
	var s metav1.Status
	if err := json.Unmarshal(a.body, &s); err != nil {
		t.Fatalf("not a Status: %v: %s", err, a.body)
	}
	return s
}

// list is the part of a JSON list that tests look at.
type list struct {
	Kind, APIVersion string
	Metadata         metav1.ListMeta
	Items            []metav1.PartialObjectMetadata
}

func (l list) keys() string {
	var keys []string
	for _, it := range l.Items {
		keys = append(keys, objectKey(it.Namespace, it.Name))
	}
	return strings.Join(keys, " ")
}

func (a answer) list(t testing.TB) list {
	t.Helper()
	if a.code != http.StatusOK {
		t.Fatalf("list: %d %s", a.code, a.body)
	}
	var l list
	if err := json.Unmarshal(a.body, &l); err != nil {
		t.Fatalf("not a list: %v", err)
	}
	return l
}

// call sends a request through the in-memory transport and reads the answer.
func call(t testing.TB, s *Server, method, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://apisim.invalid"+url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.RoundTripper().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b}
}

func get(t testing.TB, s *Server, url string, headers ...string) answer {
	t.Helper()
	return call(t, s, http.MethodGet, url, "", headers...)
}

// event is a watch event with what tests look at.
type event struct {
	at     time.Duration // since the watch was opened
	typ    string
	object metav1.PartialObjectMetadata
	status metav1.Status
	raw    []byte // the object
}

// String is "ADDED ns/name@rv", "BOOKMARK @rv", "BOOKMARK @rv end" or "ERROR code".
func (e event) String() string {
	switch e.typ {
	case typeError:
		return fmt.Sprintf("ERROR %d", e.status.Code)
	case typeBookmark:
		s := "BOOKMARK @" + e.object.ResourceVersion
		if e.object.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			s += " end"
		}
		return s
	}
	return fmt.Sprintf("%s %s@%s", e.typ, objectKey(e.object.Namespace, e.object.Name), e.object.ResourceVersion)
}

// stream is an open watch.
type stream struct {
	resp   *http.Response
	opened time.Time
	cancel context.CancelFunc
	dec    *json.Decoder
}

// watch opens a watch and waits for its headers.
func watch(t testing.TB, s *Server, url string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://apisim.invalid"+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	opened := time.Now()
	resp, err := s.RoundTripper().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close(); cancel() })
	return &stream{resp: resp, opened: opened, cancel: cancel, dec: json.NewDecoder(resp.Body)}
}

// next reads one JSON event; io.EOF is a clean end.
func (w *stream) next() (event, error) {
	var frame struct {
		Type   string
		Object json.RawMessage
	}
	if err := w.dec.Decode(&frame); err != nil {
		return event{}, err
	}
	e := event{at: time.Since(w.opened), typ: frame.Type, raw: frame.Object}
	var into any = &e.object
	if e.typ == typeError {
		into = &e.status
	}
	return e, json.Unmarshal(frame.Object, into)
}

// rest reads to the end, which must be clean, and returns the events and the
// time of the end.
func (w *stream) rest(t testing.TB) ([]event, time.Duration) {
	t.Helper()
	var all []event
	for {
		e, err := w.next()
		if err == io.EOF {
			return all, time.Since(w.opened)
		}
		if err != nil {
			t.Fatalf("watch ended with %v after %v", err, all)
		}
		all = append(all, e)
	}
}

func text(events []event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, e.String())
	}
	return strings.Join(lines, "\n")
}

func lines(s ...string) string { return strings.Join(s, "\n") }

// protoFrames splits a protobuf watch body.
func protoFrames(t testing.TB, b []byte) []metav1.WatchEvent {
	t.Helper()
	var all []metav1.WatchEvent
	for len(b) > 0 {
		n := binary.BigEndian.Uint32(b)
		var e metav1.WatchEvent
		if err := e.Unmarshal(b[4 : 4+n]); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
		b = b[4+n:]
	}
	return all
}

// unwrap takes the envelope off a protobuf object.
func unwrap(t testing.TB, b []byte) runtime.Unknown {
	t.Helper()
	raw, ok := bytes.CutPrefix(b, []byte(protoMagic))
	var u runtime.Unknown
	if !ok {
		t.Fatalf("no envelope: %q", b[:min(len(b), 8)])
	}
	if err := u.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	return u
}
