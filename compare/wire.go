package compare

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// wire counts what goes over the connections of one client (M1).
type wire struct {
	requests atomic.Int64
	received atomic.Int64
}

// through returns a copy of cfg whose clients are counted.
func (w *wire) through(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, received: &w.received}, nil
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return countedTransport{next: next, requests: &w.requests}
	})
	return cfg
}

type countedConn struct {
	net.Conn
	received *atomic.Int64
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

type countedTransport struct {
	next     http.RoundTripper
	requests *atomic.Int64
}

func (t countedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests.Add(1)
	return t.next.RoundTrip(r)
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t countedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
