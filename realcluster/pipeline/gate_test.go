package pipeline

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// gate is the way to the server: a dialer that can cut what it has dialed.
type gate struct {
	mu    sync.Mutex // guards what follows
	shut  bool
	conns map[*gatedConn]struct{}
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.conns, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut {
		return nil, refused
	}
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &gatedConn{Conn: raw, gate: g}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		raw.Close()
		return nil, refused
	}
	if g.conns == nil {
		g.conns = make(map[*gatedConn]struct{})
	}
	g.conns[conn] = struct{}{}
	return conn, nil
}

// cut breaks every connection and refuses new ones until mend.
func (g *gate) cut() {
	g.mu.Lock()
	g.shut = true
	conns := g.conns
	g.conns = nil
	g.mu.Unlock()
	for c := range conns {
		c.Conn.Close()
	}
}

func (g *gate) mend() {
	g.mu.Lock()
	g.shut = false
	g.mu.Unlock()
}
