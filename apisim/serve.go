package apisim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// ServeOption changes how Serve listens.
type ServeOption func(*serving)

type serving struct {
	anyAddress bool
	cert       *tls.Certificate // nil: no TLS
}

// AnyAddress lets Serve listen on an address that other machines can reach. The
// server knows no users and no TLS: whoever can reach it can change everything.
func AnyAddress() ServeOption { return func(s *serving) { s.anyAddress = true } }

// Serve listens on a TCP address such as "127.0.0.1:0" and serves HTTP/1.1 and
// unencrypted HTTP/2 until ctx ends. An address that is not a loopback one is
// refused, unless AnyAddress is given.
//
// It returns the base URL once connections are accepted. wait blocks until the
// last connection is gone, which is soon after ctx has ended: watches end
// cleanly, other requests have a second. wait returns nil if ctx was the cause.
func (s *Server) Serve(ctx context.Context, addr string, opts ...ServeOption) (url string, wait func() error, err error) {
	var cfg serving
	for _, o := range opts {
		o(&cfg)
	}
	if !cfg.anyAddress {
		if err := checkLoopback(ctx, addr); err != nil {
			return "", nil, err
		}
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("apisim: listen on %s: %w", addr, err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{
		Handler:           s.Handler(),
		Protocols:         protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // broken connections are everyday
	}
	scheme := "http://"
	if cfg.cert != nil {
		scheme, ln = "https://", secure(srv, ln, cfg.cert)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	var result error
	done := make(chan struct{})
	go func() {
		defer close(done)
		result = s.shutdown(ctx, srv, served)
	}()
	return scheme + ln.Addr().String(), func() error { <-done; return result }, nil
}

// shutdown waits for the end of ctx, or of the listener, and closes everything.
func (s *Server) shutdown(ctx context.Context, srv *http.Server, served <-chan error) error {
	select {
	case err := <-served:
		_ = srv.Close()
		return fmt.Errorf("apisim: serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.CloseWatches()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-served
	return err
}

// checkLoopback refuses an address that other machines can reach.
func checkLoopback(ctx context.Context, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("apisim: address %q: %w; give host:port, such as 127.0.0.1:0", addr, err)
	}
	ips := []net.IPAddr{}
	if ip := net.ParseIP(host); ip != nil {
		ips = append(ips, net.IPAddr{IP: ip})
	} else if host != "" {
		if ips, err = net.DefaultResolver.LookupIPAddr(ctx, host); err != nil {
			return fmt.Errorf("apisim: address %q: %w", addr, err)
		}
	}
	if len(ips) == 0 {
		return fmt.Errorf("apisim: %q listens on every interface, and this server has no access control; give 127.0.0.1 or ::1 as the host", addr)
	}
	for _, ip := range ips {
		if !ip.IP.IsLoopback() {
			return fmt.Errorf("apisim: %q is not a loopback address, and this server has no access control; give 127.0.0.1 or ::1 as the host", addr)
		}
	}
	return nil
}
