package compare

import (
	"io"
	"net"
	"testing"

	"k8s.io/client-go/rest"
)

// M1: every request and every byte of the connection, headers included.
func TestM1Wire(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 4096)
		for range 3 {
			if _, err := conn.Read(buf); err != nil { // each request fits into one segment
				return
			}
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	}()
	defer func() { listener.Close(); <-served }()

	var w wire
	original := &rest.Config{Host: "http://" + listener.Addr().String()}
	cfg := w.through(original)
	if original.Dial != nil || original.WrapTransport != nil {
		t.Fatal("the caller's configuration was changed")
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	for i := 1; i <= 3; i++ {
		response, err := client.Get(cfg.Host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if requests, received := w.requests.Load(), w.received.Load(); requests != int64(i) || received != int64(i*len(answer)) {
			t.Fatalf("after %d requests: %d counted, %d bytes; want %d bytes", i, requests, received, i*len(answer))
		}
	}
}
