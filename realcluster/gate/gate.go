// Package gate is a way to a server that can be cut, and mended.
package gate

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Gate is the way to a server: a dialer that can cut what it has dialed. It is open
// until Cut, and safe for concurrent use.
type Gate struct {
	mu    sync.Mutex // guards what follows
	shut  bool
	conns map[*gatedConn]struct{}
}

type gatedConn struct {
	net.Conn
	gate *Gate
}

func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.conns, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// Dial is for rest.Config.Dial.
func (g *Gate) Dial(ctx context.Context, network, address string) (net.Conn, error) {
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

// Cut breaks every connection and refuses new ones until Mend.
func (g *Gate) Cut() {
	g.mu.Lock()
	g.shut = true
	g.mu.Unlock()
	g.CutOnce()
}

// CutOnce breaks every connection.
func (g *Gate) CutOnce() {
	g.mu.Lock()
	conns := g.conns
	g.conns = nil
	g.mu.Unlock()
	for c := range conns {
		c.Conn.Close()
	}
}

// Mend lets new connections through.
func (g *Gate) Mend() {
	g.mu.Lock()
	g.shut = false
	g.mu.Unlock()
}
