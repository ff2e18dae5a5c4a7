package reflector

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unzipped is the body as the server meant it. Go's own transport has taken
// the compression off already; a custom one may not have.
func unzipped(resp *http.Response) io.ReadCloser {
	if resp.Uncompressed || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return resp.Body
	}
	return &gzipBody{body: resp.Body}
}

// gzipBody takes off compression. The stream's header is read with the first
// Read and not before: a watch may send nothing for a while. A body of several
// members, one per flush as watches send them, reads as one.
type gzipBody struct {
	body   io.ReadCloser
	reader *gzip.Reader
	err    error
}

func (g *gzipBody) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.reader == nil {
		if g.reader, g.err = gzip.NewReader(g.body); g.err != nil {
			return 0, g.err
		}
	}
	n, err := g.reader.Read(p)
	g.err = err
	return n, err
}

// Close may be called during a Read, which it ends.
func (g *gzipBody) Close() error { return g.body.Close() }

// budget caps what may be read until it is renewed. It acts before memory is
// taken: a reader that wants more meets an error.
//
// It also marks the errors of the connection: a JSON decoder reports what a
// read inside a value returned as it reports bad text.
type budget struct {
	r      io.Reader
	left   int
	limit  int
	option string
}

func (b *budget) renew() { b.left = b.limit }

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &SizeError{Limit: b.limit, Option: b.option}
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && err != io.EOF {
		err = &brokenError{err}
	}
	return n, err
}

// brokenError is an error of the connection, as against one of what came over it.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }
