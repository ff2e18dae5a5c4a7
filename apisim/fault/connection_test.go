package fault_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"informer.example/apisim/fault"
)

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func TestConnectionFaultsInMemory(t *testing.T) {
	tests := []struct {
		why   string
		fault fault.Fault
		code  int
		body  int // bytes, -1: all
		err   string
		after time.Duration
	}{
		{"broken before an answer", fault.Break(), 0, 0, "unexpected EOF", 0},
		{"never answered", fault.Hang(), 0, 0, "context deadline exceeded", time.Minute},
		{"headers and nothing else", fault.Silence(), 200, 0, "context deadline exceeded", time.Minute},
		{"late", fault.Delay(10 * time.Second), 200, -1, "", 10 * time.Second},
		{"cut", fault.CutAfter(20), 200, 20, "unexpected EOF", 0},
		{"reset, where there is no TCP", fault.Reset(20), 200, 20, "unexpected EOF", 0},
		{"cut behind the end", fault.CutAfter(1 << 20), 200, -1, "", 0},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, 3)
			whole := get(t, s, "/api/v1/pods", jsonType).body
			s.SetFault(func(*http.Request) fault.Fault { return tt.fault })
			began := time.Now()
			got := getWithin(t, s.Config(), time.Minute)
			if tt.body < 0 {
				tt.body = len(whole)
			}
			if got.code != tt.code || len(got.body) != tt.body || !bytes.HasPrefix(whole, got.body) || time.Since(began) != tt.after {
				t.Errorf("%s: %d, %d bytes after %v", tt.why, got.code, len(got.body), time.Since(began))
			}
			if (got.err == nil) != (tt.err == "") || got.err != nil && !strings.Contains(got.err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.why, got.err)
			}
		})
	}
}

// C4 on real sockets: what breaks is broken, and each in its own way.
func TestConnectionFaultsOverTCP(t *testing.T) {
	s := newServer(t, 3)
	script := fault.New()
	listener, err := fault.Serve(t.Context(), script.Handler(s.Handler()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(h2.CloseIdleConnections)
	http1, http2 := listener.Config, &rest.Config{Host: listener.Config.Host, Transport: h2}

	tests := []struct {
		id, why string
		cfg     *rest.Config
		fault   fault.Fault
		is      error  // what the error is,
		says    string // or says
	}{
		{"F04", "a reset is seen as one", http1, fault.Reset(20), syscall.ECONNRESET, ""},
		{"F05", "no last chunk", http1, fault.CutAfter(20), io.ErrUnexpectedEOF, ""},
		{"F06", "a reset of the stream in HTTP/2", http2, fault.CutAfter(20), nil, "INTERNAL_ERROR"},
		{"F06", "the same for a reset of the connection, which carries other streams too", http2, fault.Reset(20), nil, "INTERNAL_ERROR"},
		{"", "no answer at all", http1, fault.Break(), io.EOF, ""},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			script.Clear()
			script.On(fault.Any).Do(tt.fault)
			got := read(ask(t, tt.cfg, "/api/v1/pods", jsonType))
			if got.err == nil || tt.is != nil && !errors.Is(got.err, tt.is) || !strings.Contains(got.err.Error(), tt.says) {
				t.Errorf("%s: %v", tt.why, got.err)
			}
		})
	}
	// F07: "Connection: close" is GOAWAY in HTTP/2. The streams that are open go on.
	t.Run("F07", func(t *testing.T) {
		script.Clear()
		resp, err := ask(t, http2, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1", jsonType)
		if err != nil {
			t.Fatal(err)
		}
		script.On(fault.List).Do(fault.Draining())
		if got := read(ask(t, http2, "/api/v1/pods", jsonType)); got.code != 429 {
			t.Errorf("%d %v", got.code, got.err)
		}
		if got := read(resp, nil); got.err != nil || got.frames() != "ADDED p00, ADDED p01, ADDED p02" {
			t.Errorf("the open watch: %s, %v", got.frames(), got.err)
		}
	})
	script.Clear()
	if got := read(ask(t, http1, "/api/v1/pods", jsonType)); got.err != nil || got.code != 200 {
		t.Errorf("after the faults: %d %v", got.code, got.err)
	}
}

// TestProxy: the same faults, in front of a server that is somewhere else.
func TestProxy(t *testing.T) {
	s := newServer(t, 3)
	backend, err := fault.Serve(t.Context(), s.Handler())
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	script := fault.New()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	proxy, err := fault.Proxy(&rest.Config{Host: backend.Config.Host, Transport: transport}, script)
	if err != nil {
		t.Fatal(err)
	}
	front, err := fault.Serve(t.Context(), proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()

	const watch = "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1"
	if got := read(ask(t, front.Config, watch, protobufType)); got.err != nil || got.frames() != "ADDED p00, ADDED p01, ADDED p02" {
		t.Errorf("C1: %s, %v", got.frames(), got.err)
	}
	both(t, func(t *testing.T, accept string) {
		for _, encoding := range []string{"", "gzip"} {
			script.On(fault.Watch).Times(1).Do(fault.CutFrame(1, false))
			if got := read(ask(t, front.Config, watch, accept, "Accept-Encoding", encoding)); !errors.Is(got.err, io.ErrUnexpectedEOF) || got.frames() != "ADDED p00, half" {
				t.Errorf("%s, %v", got.frames(), got.err)
			}
			script.On(fault.List).Times(1).Do(fault.CutList(fault.BetweenItems, 1, false))
			if got := read(ask(t, front.Config, "/api/v1/pods", accept, "Accept-Encoding", encoding)); !errors.Is(got.err, io.ErrUnexpectedEOF) || !bytes.Contains(got.body, []byte("p00")) || bytes.Contains(got.body, []byte("p01")) {
				t.Errorf("%q, %v", got.body, got.err)
			}
		}
	})
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	if got := read(ask(t, front.Config, "/api/v1/pods", jsonType)); got.err == nil {
		t.Errorf("a server that is gone answers %d", got.code)
	}
}

func getWithin(t *testing.T, cfg *rest.Config, d time.Duration) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: cfg.Transport, Timeout: d}
	return read(client.Do(req))
}
