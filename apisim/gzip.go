package apisim

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// gzipThreshold is the size from which a list is worth compressing.
const gzipThreshold = 128 << 10

// gzipPool reuses compressors, each of which holds hundreds of kilobytes.
type gzipPool struct{ pool sync.Pool }

func (p *gzipPool) get(w io.Writer) *gzip.Writer {
	if z, ok := p.pool.Get().(*gzip.Writer); ok {
		z.Reset(w)
		return z
	}
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a valid level cannot fail
	return z
}

func (p *gzipPool) put(z *gzip.Writer) {
	z.Reset(nil)
	p.pool.Put(z)
}

func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		if coding, _, _ := strings.Cut(part, ";"); strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

// listWriter buffers the body of a list. With gzip it holds back the first
// 128 KiB: a longer body is compressed, a shorter one is sent as it is.
//
// An error sticks: the client is gone then, and there is no one to tell.
type listWriter struct {
	w     http.ResponseWriter
	buf   []byte
	limit int
	pool  *gzipPool // nil without compression
	z     *gzip.Writer
	err   error
}

func (s *Server) newListWriter(w http.ResponseWriter, r *http.Request) *listWriter {
	if s.compress && acceptsGzip(r) {
		return &listWriter{w: w, limit: gzipThreshold, pool: &s.gzips}
	}
	return &listWriter{w: w, limit: 32 << 10}
}

func (l *listWriter) Write(b []byte) (int, error) {
	if len(l.buf)+len(b) > l.limit {
		if l.pool != nil && l.z == nil {
			l.w.Header().Set("Content-Encoding", "gzip")
			l.w.Header().Add("Vary", "Accept-Encoding")
			l.z = l.pool.get(l.w)
		}
		l.spill(l.buf)
		l.buf = l.buf[:0]
	}
	if len(b) > l.limit {
		l.spill(b)
	} else if l.err == nil {
		l.buf = append(l.buf, b...)
	}
	if l.err != nil {
		return 0, l.err
	}
	return len(b), nil
}

func (l *listWriter) writeString(s string) { _, _ = l.Write([]byte(s)) }

func (l *listWriter) spill(b []byte) {
	if l.err != nil || len(b) == 0 {
		return
	}
	if l.z != nil {
		_, l.err = l.z.Write(b)
	} else {
		_, l.err = l.w.Write(b)
	}
}

// close sends what is left.
func (l *listWriter) close() {
	l.spill(l.buf)
	if l.z != nil {
		_ = l.z.Close()
		l.pool.put(l.z)
	}
}
