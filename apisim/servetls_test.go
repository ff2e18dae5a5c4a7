package apisim

import (
	"context"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
)

// E5: clients that are given the configuration speak HTTP/2, as with the real
// server, and a restart that cuts ends their watch with a broken stream.
func TestServeTLS(t *testing.T) {
	s := New()
	put(t, s, pod("a", "p"))
	ctx, cancel := context.WithCancel(t.Context())
	config, wait, err := s.ServeTLS(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(config.Host + "/api/v1/pods?watch=1&resourceVersion=101")
	if err != nil {
		t.Fatal(err)
	}
	if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Proto, resp.Status)
	}
	put(t, s, pod("a", "q"))
	if n, err := resp.Body.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("event: %d bytes, %v", n, err)
	}
	s.Restart(RestartOptions{Cut: true})
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("a cut watch ended cleanly")
	}
	resp.Body.Close()
	client.CloseIdleConnections()
	cancel()
	if err := wait(); err != nil {
		t.Error(err)
	}
}
