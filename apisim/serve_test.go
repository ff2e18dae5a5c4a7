package apisim

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Real sockets, and real time only as a limit: nothing here waits for time to
// pass.

func serve(t *testing.T, s *Server) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	url, wait, err := s.Serve(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = wait() })
	return url, func() error { cancel(); return wait() }
}

// Both versions of HTTP: a list, live events, and a clean end at shutdown.
func TestServe(t *testing.T) {
	for name, version := range map[string]int{"HTTP/1.1": 1, "HTTP/2": 2} {
		t.Run(name, func(t *testing.T) {
			s := New()
			if err := s.Fill(200); err != nil {
				t.Fatal(err)
			}
			url, stop := serve(t, s)
			tr := &http.Transport{Protocols: new(http.Protocols)}
			tr.Protocols.SetHTTP1(version == 1)
			tr.Protocols.SetUnencryptedHTTP2(version == 2)
			defer tr.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			fetch := func(path string) *http.Response {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if resp.ProtoMajor != version {
					t.Fatalf("answered by %s", resp.Proto)
				}
				return resp
			}

			resp := fetch("/api/v1/pods")
			var l list
			err := json.NewDecoder(resp.Body).Decode(&l)
			resp.Body.Close()
			if err != nil || len(l.Items) != 200 || !resp.Uncompressed {
				t.Fatalf("%d items, uncompressed=%v, %v", len(l.Items), resp.Uncompressed, err)
			}

			resp = fetch("/api/v1/pods?" + watchListQuery + "&resourceVersion=" + l.Metadata.ResourceVersion)
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			lines.Buffer(nil, 1<<20)
			for range 201 {
				if !lines.Scan() {
					t.Fatal(lines.Err())
				}
			}
			if !strings.Contains(lines.Text(), metav1.InitialEventsAnnotationKey) {
				t.Fatalf("no marker: %s", lines.Text())
			}
			put(t, s, pod("a", "live"))
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"type":"ADDED"`) {
				t.Fatalf("no event: %s %v", lines.Text(), lines.Err())
			}

			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			if lines.Scan() || lines.Err() != nil {
				t.Errorf("the watch did not end cleanly: %s %v", lines.Text(), lines.Err())
			}
			resp.Body.Close()
			if err := <-stopped; err != nil {
				t.Errorf("wait: %v", err)
			}
			if _, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second); err == nil {
				t.Error("still listening")
			}
		})
	}
}

// A client that hangs up ends the watch on the server's side.
func TestServeHangUp(t *testing.T) {
	s := New()
	url, _ := serve(t, s)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/pods?watch=1&resourceVersion=100", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n := s.Stats().Watches; n != 1 {
		t.Fatalf("%d watches", n)
	}
	cancel()
	for s.Stats().Watches != 0 {
		if t.Context().Err() != nil {
			return
		}
		// Anything that takes a round trip will do as a pause.
		r, err := http.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// A fault that cuts breaks real connections, too.
func TestServeCut(t *testing.T) {
	s := New()
	if err := s.Fill(20); err != nil {
		t.Fatal(err)
	}
	s.SetFault(always(CutAfter(5000)))
	url, _ := serve(t, s)
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); len(b) != 5000 || err == nil {
		t.Errorf("read %d bytes, %v", len(b), err)
	}
}

func TestServeRefusesOtherAddresses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "nonsense", "127.0.0.1", ""} {
		_, _, err := New().Serve(ctx, addr)
		if err == nil {
			t.Errorf("%q is served", addr)
		} else if !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%q: the error does not say what to do: %v", addr, err)
		}
	}
	_, wait, err := New().Serve(ctx, "0.0.0.0:0", AnyAddress())
	if err != nil {
		t.Fatalf("with AnyAddress: %v", err)
	}
	cancel()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

// Config is enough for a client-go REST client.
func TestConfig(t *testing.T) {
	s := New()
	put(t, s, pod("a", "p"))
	cfg := s.Config()
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := hc.Get(cfg.Host + "/api/v1/pods")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var l list
	if err := json.NewDecoder(resp.Body).Decode(&l); err != nil || l.keys() != "a/p" {
		t.Errorf("%v %v", l, err)
	}
}

func TestDiscovery(t *testing.T) {
	s := New(withWidgets())
	for url, want := range map[string]string{
		"/healthz":                        "ok",
		"/readyz":                         "ok",
		"/livez":                          "ok",
		"/version":                        `"gitVersion":"v1.37.`,
		"/api":                            `"versions":["v1"]`,
		"/api/v1":                         `{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"]},{"name":"pods/status"`,
		"/apis":                           `{"groupVersion":"demo.informer.example/v1","version":"v1"}`,
		"/apis/apps":                      `"kind":"APIGroup"`,
		"/apis/demo.informer.example/v1":  `"groupVersion":"demo.informer.example/v1","resources":[{"name":"widgets"`,
		"/apis/demo.informer.example/v1/": `"groupVersion":"demo.informer.example/v1"`,
	} {
		a := get(t, s, url)
		if a.code != 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", url, a.code, a.body)
		}
	}
	for url, want := range map[string]int{"/": 404, "/apis/none": 404, "/api/v2": 404, "/api/v1/none": 404, "/openapi/v2": 404, "//": 404} {
		if a := get(t, s, url); a.code != want {
			t.Errorf("%s: %d", url, a.code)
		}
	}
	if n := s.Stats().Requests[Op{}]; n != 16 {
		t.Errorf("%d requests beside resources counted", n)
	}
}

func TestNewServerRefusesBadResources(t *testing.T) {
	for why, r := range map[string]Resource{
		"no name":     {Kind: "X"},
		"no kind":     {GVR: widgets},
		"no protobuf": {GVR: widgets, Kind: "Widget", Prototype: &widget{}},
		"no object":   {GVR: widgets, Kind: "Widget", Prototype: &metav1.Status{}},
	} {
		if _, err := NewServer(WithResource(r)); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
	// The last description of a resource counts.
	s, err := NewServer(WithResource(Resource{GVR: Pods().GVR, Kind: "Pod"}))
	if err != nil || len(s.resources) != len(BuiltIns()) || s.store.tables[Pods().GVR].res.typed() {
		t.Errorf("replacing pods: %v", err)
	}
}
