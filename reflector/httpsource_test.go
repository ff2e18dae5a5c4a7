package reflector

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/apisim"
	"informer.example/object"
)

// asked is a transport that keeps the last request.
type asked struct{ last *http.Request }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.last = r
	return answer(200, nil, strings.NewReader(`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}`))(r)
}

func TestRequests(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	const partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	for _, c := range []struct {
		why, host string
		gvr       schema.GroupVersionResource
		do        func(cfg *rest.Config, gvr schema.GroupVersionResource) error
		url       string
		accept    string
	}{
		{"a core resource, everywhere", "http://s:1", podsGVR, listWith(SourceOptions[*corev1.Pod]{}, ListOptions{}),
			"http://s:1/api/v1/pods", "application/vnd.kubernetes.protobuf,application/json"},
		{"a group, a namespace", "http://s:1", deployments, listWith(SourceOptions[*corev1.Pod]{Namespace: "n"}, ListOptions{}),
			"http://s:1/apis/apps/v1/namespaces/n/deployments", "application/vnd.kubernetes.protobuf,application/json"},
		{"a server behind a path", "https://s/prefix/", podsGVR, listWith(SourceOptions[*corev1.Pod]{Encoding: EncodingJSON}, ListOptions{}),
			"https://s/prefix/api/v1/pods", "application/json"},
		{"a host alone", "s:1", podsGVR, listWith(SourceOptions[*corev1.Pod]{Encoding: EncodingProtobuf}, ListOptions{}),
			"http://s:1/api/v1/pods", "application/vnd.kubernetes.protobuf"},
		{"all of a list's options", "http://s", podsGVR, listWith(SourceOptions[*corev1.Pod]{LabelSelector: "a=b,c", FieldSelector: "spec.nodeName=x"},
			ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Limit: 5}),
			"http://s/api/v1/pods?fieldSelector=spec.nodeName%3Dx&labelSelector=a%3Db%2Cc&limit=5&resourceVersion=7&resourceVersionMatch=NotOlderThan", "application/vnd.kubernetes.protobuf,application/json"},
		{"a token", "http://s", podsGVR, listWith(SourceOptions[*unstructured.Unstructured]{}, ListOptions{Continue: "a&b=="}),
			"http://s/api/v1/pods?continue=a%26b%3D%3D", "application/json"},
		{"metadata", "http://s", podsGVR, listWith(SourceOptions[*metav1.PartialObjectMetadata]{}, ListOptions{}),
			"http://s/api/v1/pods", "application/vnd.kubernetes.protobuf" + partial + ",application/json" + partial + ",application/json"},
		{"a watch", "http://s", podsGVR, watchWith(SourceOptions[*corev1.Pod]{}, WatchOptions{ResourceVersion: "7", Timeout: 90500 * time.Millisecond}),
			"http://s/api/v1/pods?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=90&watch=true", "application/vnd.kubernetes.protobuf,application/json"},
		{"a watch-list", "http://s", podsGVR, watchWith(SourceOptions[*metav1.PartialObjectMetadata]{Encoding: EncodingJSON}, WatchOptions{SendInitialEvents: true}),
			"http://s/api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"},
	} {
		t.Run(c.why, func(t *testing.T) {
			var a asked
			if err := c.do(&rest.Config{Host: c.host, Transport: &a}, c.gvr); err != nil {
				t.Fatal(err)
			}
			if got := a.last.URL.String(); got != c.url {
				t.Errorf("URL  %s\nwant %s", got, c.url)
			}
			if got := a.last.Header.Get("Accept"); got != c.accept {
				t.Errorf("Accept %s\nwant   %s", got, c.accept)
			}
			if a.last.Header.Get("User-Agent") == "" {
				t.Error("no User-Agent")
			}
		})
	}
}

func listWith[T metav1.Object](so SourceOptions[T], o ListOptions) func(*rest.Config, schema.GroupVersionResource) error {
	return func(cfg *rest.Config, gvr schema.GroupVersionResource) error {
		src, err := NewHTTPSource(cfg, gvr, so)
		if err == nil {
			_, err = src.List(context.Background(), o, func(object.Item[T]) error { return nil })
		}
		return err
	}
}

func watchWith[T metav1.Object](so SourceOptions[T], o WatchOptions) func(*rest.Config, schema.GroupVersionResource) error {
	return func(cfg *rest.Config, gvr schema.GroupVersionResource) error {
		src, err := NewHTTPSource(cfg, gvr, so)
		if err != nil {
			return err
		}
		stream, err := src.Watch(context.Background(), o)
		if err == nil {
			err = stream.Close()
		}
		return err
	}
}

func TestNewHTTPSource_Refuses(t *testing.T) {
	cfg := &rest.Config{Host: "http://s"}
	for _, c := range []struct {
		why string
		err error
		say string
	}{
		{"no resource", newErr(cfg, schema.GroupVersionResource{Version: "v1"}, SourceOptions[*corev1.Pod]{}), "a resource and its version"},
		{"no version", newErr(cfg, schema.GroupVersionResource{Resource: "pods"}, SourceOptions[*corev1.Pod]{}), "a resource and its version"},
		{"a subresource", newErr(cfg, schema.GroupVersionResource{Version: "v1", Resource: "pods/log"}, SourceOptions[*corev1.Pod]{}), "subresource"},
		{"a path for a namespace", newErr(cfg, podsGVR, SourceOptions[*corev1.Pod]{Namespace: "a/../b"}), "may not contain"},
		{"dots for a namespace", newErr(cfg, podsGVR, SourceOptions[*corev1.Pod]{Namespace: ".."}), "may not be"},
		{"a bad label selector", newErr(cfg, podsGVR, SourceOptions[*corev1.Pod]{LabelSelector: "a in ("}), "label selector"},
		{"a bad field selector", newErr(cfg, podsGVR, SourceOptions[*corev1.Pod]{FieldSelector: "a"}), "field selector"},
		{"protobuf for a type without", newErr(cfg, podsGVR, SourceOptions[*unstructured.Unstructured]{Encoding: EncodingProtobuf}), "no protobuf form"},
		{"an unknown encoding", newErr(cfg, podsGVR, SourceOptions[*corev1.Pod]{Encoding: 9}), "unknown encoding"},
		{"an interface", newErr(cfg, podsGVR, SourceOptions[metav1.Object]{}), "SourceOptions.New"},
		{"a bad address", newErr(&rest.Config{Host: "a b"}, podsGVR, SourceOptions[*corev1.Pod]{}), "host"},
		{"a missing CA", newErr(&rest.Config{Host: "https://s", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent"}}, podsGVR, SourceOptions[*corev1.Pod]{}), "nonexistent"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", c.why, c.err, c.say)
		}
	}
	// With New, any type will do.
	src := sourceOf(t, answer(200, nil, strings.NewReader(`{"items":[{"metadata":{"name":"a"}}]}`)), podsGVR, SourceOptions[metav1.Object]{New: func() metav1.Object { return &corev1.Pod{} }})
	if items, _, err := listAll(t, src); err != nil || len(items) != 1 {
		t.Error(items, err)
	}
}

func newErr[T metav1.Object](cfg *rest.Config, gvr schema.GroupVersionResource, o SourceOptions[T]) error {
	_, err := NewHTTPSource(cfg, gvr, o)
	return err
}

// TestNoSecrets: nothing that lets anyone in is in an error.
func TestNoSecrets(t *testing.T) {
	secrets := []string{"hunter2", "s3cr3t-token", "continue-token"}
	cfg := &rest.Config{
		Host: "http://admin:hunter2@127.0.0.1:1", BearerToken: "s3cr3t-token",
		Transport: respond(func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("dial tcp 127.0.0.1:1: connection refused")
		}),
	}
	src, err := NewHTTPSource(cfg, podsGVR, SourceOptions[*corev1.Pod]{Namespace: "n"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = src.List(t.Context(), ListOptions{Continue: "continue-token"}, nil)
	const want = "list pods in namespace n: can't reach 127.0.0.1:1: dial tcp 127.0.0.1:1: connection refused"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for _, secret := range secrets {
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%q tells %q", e, secret)
			}
		}
	}
}

// TestNoRedirects: credentials go to no other address than the one configured.
func TestNoRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	cfg := &rest.Config{Host: "http://s", BearerToken: "t", Transport: respond(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "s" {
			elsewhere.Add(1)
		}
		return answer(307, http.Header{"Location": {"http://elsewhere/api/v1/pods"}}, strings.NewReader(""))(r)
	})}
	src, err := NewHTTPSource(cfg, podsGVR, SourceOptions[*corev1.Pod]{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = listAll(t, src)
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != 307 || elsewhere.Load() != 0 {
		t.Errorf("got %v, %d requests elsewhere", err, elsewhere.Load())
	}
}

// TestErrorText: what a server says is bounded and fits a line.
func TestErrorText(t *testing.T) {
	body := "first\nsecond\x1b[31m" + strings.Repeat("x", 5000)
	_, _, err := listAll(t, sourceOf(t, answer(500, nil, strings.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{}))
	if text := err.Error(); len(text) > 1500 || strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("%d bytes: %.200q", len(text), text)
	}
	if got := printable(strings.Repeat("é", 2000)); !strings.HasSuffix(got, "é…") {
		t.Errorf("cut inside a character: …%q", got[len(got)-10:])
	}
}

func TestRetryAfterHeader(t *testing.T) {
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999999999999": 0, date: time.Hour} {
		if got := retryAfter(header); got > want || got < want-2*time.Second {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
	// A date a lifetime away wrapped round, and nothing was waited at all.
	_, _, err := listAll(t, sourceOf(t, answer(503, http.Header{"Retry-After": {"Fri, 01 Jan 2100 00:00:00 GMT"}}, strings.NewReader("later")), podsGVR, SourceOptions[*corev1.Pod]{}))
	if _, wait := classify(err); wait < maxRetryAfter {
		t.Errorf("to wait until 2100: %v, which is %v", err, wait)
	}
	// The header's code counts: it is what proxies go by, and what a body may lack.
	_, _, err = listAll(t, sourceOf(t, answer(503, nil, strings.NewReader(`{"kind":"Status","status":"Failure","code":200}`)), podsGVR, SourceOptions[*corev1.Pod]{}))
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != 503 {
		t.Errorf("got %#v", err)
	}
	h := http.Header{"Retry-After": {"7"}}
	for _, body := range []string{"too many", `{"kind":"Status","code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":1}}`, `{"kind":"Status","code":429}`} {
		_, _, err := listAll(t, sourceOf(t, answer(429, h, strings.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{}))
		e, ok := errors.AsType[*Error](err)
		if !ok || e.RetryAfter != 7*time.Second || !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s: %#v", body, err)
		}
	}
}

// TestYieldError: the caller's own error comes back as it is.
func TestYieldError(t *testing.T) {
	mine := &DecodeError{What: "mine"}
	e := recording(t)["pods-list-json"]
	n := 0
	_, err := sourceOf(t, e.transport(), podsGVR, SourceOptions[*corev1.Pod]{}).List(t.Context(), ListOptions{}, func(object.Item[*corev1.Pod]) error {
		n++
		return mine
	})
	if err != error(mine) || n != 1 || mine.What != "mine" {
		t.Errorf("got %#v after %d items", err, n)
	}
}

// TestKeyFunc: an own one decides; what it can't name fails the list.
func TestKeyFunc(t *testing.T) {
	body := `{"items":[{"metadata":{"name":"a","labels":{"id":"7"}}}]}`
	byLabel := func(p *corev1.Pod) (object.Key, error) {
		id, ok := p.Labels["id"]
		if !ok {
			return object.Key{}, errors.New("no id")
		}
		return object.Key{Name: id}, nil
	}
	o := SourceOptions[*corev1.Pod]{KeyFunc: byLabel}
	if items, _, err := listAll(t, sourceOf(t, answer(200, nil, strings.NewReader(body)), podsGVR, o)); err != nil || items[0].Key.Name != "7" {
		t.Error(items, err)
	}
	for _, body := range []string{`{"items":[{"metadata":{"name":"a"}}]}`, `{"items":[{"metadata":{"name":"a","labels":{"id":"7"}},"spec":3}]}`} {
		if _, _, err := listAll(t, sourceOf(t, answer(200, nil, strings.NewReader(body)), podsGVR, o)); err == nil {
			t.Errorf("%s: taken", body)
		}
	}
}

// TestRealHTTP runs over sockets, HTTP/1.1 and HTTP/2, with Go's own transport.
func TestRealHTTP(t *testing.T) {
	for name, h2 := range map[string]bool{"http1": false, "http2": true} {
		t.Run(name, func(t *testing.T) {
			s := apisim.New()
			if err := s.Fill(100); err != nil {
				t.Fatal(err)
			}
			ts := httptest.NewUnstartedServer(s.Handler())
			ts.EnableHTTP2 = h2
			ts.StartTLS()
			defer ts.Close()
			u, _ := url.Parse(ts.URL)
			transport := ts.Client().Transport.(*http.Transport).Clone()
			transport.ForceAttemptHTTP2 = h2
			defer transport.CloseIdleConnections()
			src, err := NewHTTPSource(&rest.Config{Host: "https://" + u.Host, Transport: transport}, podsGVR, SourceOptions[*corev1.Pod]{Encoding: EncodingJSON})
			if err != nil {
				t.Fatal(err)
			}
			sink := newRecorder[*corev1.Pod]()
			calls := make(chan struct{}, 10)
			sink.onCall = func() { calls <- struct{}{} }
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			r := New(src, sink, Options{})
			go func() { done <- r.Run(ctx) }()
			<-calls // the list
			must(s.Create(podsGVR, pod("a")))
			<-calls // the event
			if log := sink.log(); !strings.HasPrefix(log[0], "replace 100 items") || !strings.HasPrefix(log[1], "ADDED default/a") {
				t.Errorf("sink: %q", log)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStreamClose ends a Next that waits, and may be called again.
func TestStreamClose(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	transport := respond(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: r, Request: req, Header: http.Header{}}, nil
	})
	stream, err := sourceOf(t, transport, podsGVR, SourceOptions[*corev1.Pod]{}).Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := stream.Next()
		done <- err
	}()
	stream.Close()
	if err := <-done; err == nil || err == io.EOF {
		t.Errorf("Next returned %v", err)
	}
	stream.Close()
}
