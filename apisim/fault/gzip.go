package fault

import (
	"bytes"
	"compress/gzip"
	"net/http"
)

// Corrupt is a way in which a compressed list is damaged.
type Corrupt string

// The ways.
const (
	CutBlock    Corrupt = "cut-block"    // it ends inside a deflate block
	WrongSum    Corrupt = "wrong-sum"    // its checksum is wrong
	CutChecksum Corrupt = "cut-checksum" // the checksum and length at its end are missing
)

// CorruptGzip compresses a list and damages it. The connection ends cleanly: only
// the compression tells.
func CorruptGzip(how Corrupt) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		edited(func() editor { return &zipEditor{how: how} })(&zipHeader{w}, r, next)
	}
}

type zipEditor struct {
	body bytes.Buffer
	how  Corrupt
}

func (e *zipEditor) edit(_ *output, b []byte) { e.body.Write(b) }

func (e *zipEditor) whole(out *output) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(e.body.Bytes()) // to memory
	_ = z.Close()
	b := zipped.Bytes()
	const tail = 8 // checksum and length
	switch e.how {
	case CutBlock:
		b = b[:(len(b)-tail)/2]
	case CutChecksum:
		b = b[:len(b)-tail]
	case WrongSum:
		b[len(b)-tail] ^= 0xff
	}
	out.send(b)
	out.finish(clean)
}

// Members compresses a watch: one gzip member for each flush of the server, sent
// in pieces of n bytes that fall where they may. With lazy, a member is not
// flushed before it is closed, so that a reader may hold its last event back until
// the next member comes.
func Members(n int, lazy bool) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		inner := r.Clone(r.Context())
		inner.Header.Del("Accept-Encoding")
		next.ServeHTTP(&memberWriter{w: &zipHeader{w}, n: max(n, 1), lazy: lazy}, inner)
	}
}

// zipHeader says in the headers of a 200 that the body is compressed.
type zipHeader struct{ http.ResponseWriter }

func (w *zipHeader) WriteHeader(code int) {
	if code == http.StatusOK {
		w.Header().Del("Content-Length")
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the transport's Flush.
func (w *zipHeader) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type memberWriter struct {
	w      http.ResponseWriter
	n      int
	lazy   bool
	member bytes.Buffer
	plain  bool // the answer isn't a 200
	headed bool
}

func (m *memberWriter) Header() http.Header { return m.w.Header() }

func (m *memberWriter) WriteHeader(code int) {
	m.headed, m.plain = true, code != http.StatusOK
	m.w.WriteHeader(code)
}

func (m *memberWriter) Write(b []byte) (int, error) {
	if !m.headed {
		m.WriteHeader(http.StatusOK)
	}
	if m.plain {
		return m.w.Write(b)
	}
	return m.member.Write(b)
}

// FlushError ends a member; http.ResponseController calls it.
func (m *memberWriter) FlushError() error {
	rc := http.NewResponseController(m.w)
	if m.member.Len() == 0 {
		return rc.Flush()
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(m.member.Bytes()) // to memory
	if !m.lazy {
		_ = z.Flush()
	}
	_ = z.Close()
	m.member.Reset()
	for b := zipped.Bytes(); len(b) > 0; {
		piece := b[:min(m.n, len(b))]
		b = b[len(piece):]
		if _, err := m.w.Write(piece); err != nil {
			return err
		}
		if err := rc.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// Flush is for handlers that know only http.Flusher.
func (m *memberWriter) Flush() { _ = m.FlushError() }
