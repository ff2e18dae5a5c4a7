package apisim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
)

// RoundTripper returns a transport that calls the server in memory. Each
// request runs in a goroutine of its own, which ends when the answer is read,
// the body is closed, the request is cancelled or the handler returns.
//
// Waiting on either side is a channel operation and no lock is held meanwhile,
// so that a testing/synctest bubble sees it as idle. The transport does not ask
// for gzip by itself.
func (s *Server) RoundTripper() http.RoundTripper { return memTransport{s.Handler()} }

type memTransport struct{ handler http.Handler }

const (
	// memChunk is how much a handler writes before it is sent without a Flush.
	memChunk = 32 << 10
	// memChunks is how many chunks can be under way, like a socket's buffer.
	memChunks = 4
)

var errClientGone = errors.New("apisim: the client has closed the response")

func (t memTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	pipe := &memPipe{
		ctx: ctx, cancel: cancel,
		chunks: make(chan []byte, memChunks), free: make(chan []byte, memChunks),
		header: make(chan struct{}),
	}
	w := &memWriter{pipe: pipe, head: make(http.Header)}
	server := req.Clone(ctx)
	server.RequestURI = req.URL.RequestURI()
	server.RemoteAddr = "in-memory"
	if server.Host == "" {
		server.Host = req.URL.Host
	}
	if server.Body == nil {
		server.Body = http.NoBody
	}
	go t.serve(w, server)

	select {
	case <-pipe.header:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if pipe.code == 0 {
		cancel()
		return nil, fmt.Errorf("apisim: the server broke the connection: %w", io.ErrUnexpectedEOF)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", pipe.code, http.StatusText(pipe.code)), StatusCode: pipe.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: pipe.sent, Body: pipe, ContentLength: -1, Request: req,
	}, nil
}

func (t memTransport) serve(w *memWriter, r *http.Request) {
	defer func() {
		p := recover()
		if p != nil && p != http.ErrAbortHandler {
			panic(p) // a defect in the handler
		}
		_ = r.Body.Close()
		w.finish(p != nil)
	}()
	t.handler.ServeHTTP(w, r)
}

// memPipe carries an answer from the handler's goroutine to the client's. It is
// the body of the client's response.
type memPipe struct {
	ctx    context.Context
	cancel context.CancelFunc

	// Written by the handler before header is closed, constant afterwards.
	code   int // 0: the connection broke first
	sent   http.Header
	header chan struct{}

	chunks chan []byte // closed by the handler at its end
	free   chan []byte // read chunks on their way back
	end    error       // set before chunks is closed

	// Owned by the reader.
	rest []byte // of the chunk being read
	cur  []byte // that chunk
	over bool   // chunks is drained: end is the answer from now on
}

func (p *memPipe) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.over {
			return 0, p.end
		}
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		p.recycle()
		select {
		case chunk, ok := <-p.chunks:
			if !ok {
				p.over = true
				p.cancel()
				return 0, p.end
			}
			p.cur, p.rest = chunk, chunk
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *memPipe) recycle() {
	if p.cur == nil {
		return
	}
	select {
	case p.free <- p.cur[:0]:
	default:
	}
	p.cur = nil
}

// Close tells the handler that the client has gone.
func (p *memPipe) Close() error {
	p.cancel()
	return nil
}

// memWriter is the handler's side. The handler's goroutine owns it.
type memWriter struct {
	pipe   *memPipe
	head   http.Header
	code   int  // set by WriteHeader
	headed bool // the client has the headers
	buf    []byte
}

func (w *memWriter) Header() http.Header { return w.head }

func (w *memWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
		w.pipe.sent = maps.Clone(w.head)
		for k, v := range w.pipe.sent {
			w.pipe.sent[k] = slices.Clone(v)
		}
	}
}

func (w *memWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if err := w.pipe.ctx.Err(); err != nil {
		return 0, errClientGone
	}
	if w.buf == nil {
		select {
		case w.buf = <-w.pipe.free:
		default:
		}
	}
	w.buf = append(w.buf, b...)
	if len(w.buf) >= memChunk {
		if err := w.FlushError(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// FlushError sends what was written so far; http.ResponseController uses it.
func (w *memWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.headed {
		w.headed = true
		w.pipe.code = w.code
		close(w.pipe.header)
	}
	if len(w.buf) == 0 {
		return nil
	}
	select {
	case w.pipe.chunks <- w.buf:
		w.buf = nil
		return nil
	case <-w.pipe.ctx.Done():
		return errClientGone
	}
}

// Flush is for handlers that know only http.Flusher.
func (w *memWriter) Flush() { _ = w.FlushError() }

// finish ends the answer: as a whole one, or as a connection that broke.
func (w *memWriter) finish(broken bool) {
	w.pipe.end = io.EOF
	if broken {
		w.pipe.end = io.ErrUnexpectedEOF
		w.buf = nil
		if !w.headed {
			close(w.pipe.header) // with code 0
			close(w.pipe.chunks)
			return
		}
	}
	_ = w.FlushError() // the client may be gone
	close(w.pipe.chunks)
}
