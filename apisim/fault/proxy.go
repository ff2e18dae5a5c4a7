package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy returns a reverse proxy to the server that target leads to, with the
// script in front. It adds target's credentials to each request: who can reach
// it has their rights. Answers are passed on as they come.
func Proxy(target *rest.Config, script *Script) (http.Handler, error) {
	transport, err := rest.TransportFor(target)
	if err != nil {
		return nil, fmt.Errorf("fault: proxy: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(target)
	if err != nil {
		return nil, fmt.Errorf("fault: proxy: %w", err)
	}
	return script.Handler(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(base) },
		Transport:     transport,
		FlushInterval: -1, // a watch's events must not wait
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // a server that is gone is a connection that breaks
		},
	}), nil
}

// Listener is a server on a loopback port.
type Listener struct {
	// Config leads a client to it, with no limit of requests per second.
	Config *rest.Config

	server *http.Server
	served chan error
}

// Serve serves the handler on a free loopback port until Close: HTTP/1.1, and
// HTTP/2 without encryption for clients that know of it.
func Serve(ctx context.Context, handler http.Handler) (*Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault: %w", err)
	}
	l := &Listener{
		Config: &rest.Config{Host: "http://" + ln.Addr().String(), QPS: -1},
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols),
		},
		served: make(chan error, 1),
	}
	l.server.Protocols.SetHTTP1(true)
	l.server.Protocols.SetUnencryptedHTTP2(true)
	go func() { l.served <- l.server.Serve(ln) }()
	return l, nil
}

// Close cuts all connections and returns when the listener has ended. It does not
// wait for handlers: they end with their connections.
func (l *Listener) Close() error {
	err := l.server.Close()
	if served := <-l.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	l.served <- http.ErrServerClosed // a second Close returns too
	return err
}
