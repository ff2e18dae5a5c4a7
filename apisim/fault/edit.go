package fault

import (
	"context"
	"net/http"
)

// ending is how a fault ends an answer.
type ending uint8

const (
	goesOn   ending = iota
	clean           // as if the server had said everything
	breakOff        // as a connection that breaks
	reset           // with a TCP RST, where there is TCP
)

// editor changes the body of one good answer on its way. It is used by one
// goroutine.
type editor interface {
	// edit takes the next bytes from the server.
	edit(out *output, b []byte)
	// whole is called when the server has ended its answer cleanly.
	whole(out *output)
}

// starter is an editor that has something to do before the first byte.
type starter interface{ start(out *output) }

// edited runs the answer through a new editor, which sees it uncompressed. An
// answer other than 200 passes as it is.
func edited(newEditor func() editor) Fault {
	inner := editedBytes(newEditor)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		r.Header.Del("Accept-Encoding")
		inner(w, r, next)
	}
}

// editedBytes is edited for an editor that doesn't care what the bytes mean.
func editedBytes(newEditor func() editor) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		out := &output{w: w, request: r, cancel: cancel}
		e := newEditor()
		aborted := serveInner(next, &editWriter{out: out, editor: e}, r.WithContext(ctx))
		switch {
		case out.ended == goesOn && aborted:
			panic(http.ErrAbortHandler)
		case out.ended == goesOn && out.good:
			e.whole(out)
		}
		if out.ended > clean {
			abort(w, out.ended)
		}
	}
}

// serveInner serves and reports whether the handler broke the connection, which
// is then for the caller to do.
func serveInner(next http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			aborted = true
		default:
			panic(p)
		}
	}()
	next.ServeHTTP(w, r)
	return false
}

// output is the way to the client.
type output struct {
	w       http.ResponseWriter
	request *http.Request
	cancel  context.CancelFunc // tells the server's side that it is over
	good    bool               // the answer is a 200
	ended   ending
	err     error
}

func (o *output) send(b []byte) {
	if o.ended == goesOn && o.err == nil && len(b) > 0 {
		_, o.err = o.w.Write(b)
	}
}

func (o *output) flush() {
	if o.ended == goesOn && o.err == nil {
		o.err = http.NewResponseController(o.w).Flush()
	}
}

// finish ends the answer; nothing can be sent afterwards.
func (o *output) finish(e ending) {
	if o.ended == goesOn {
		o.flush()
		o.ended = e
		o.cancel()
	}
}

// editWriter is what the server writes to.
type editWriter struct {
	out    *output
	editor editor
	headed bool
}

func (w *editWriter) Header() http.Header { return w.out.w.Header() }

func (w *editWriter) WriteHeader(code int) {
	if w.headed {
		return
	}
	w.headed = true
	if w.out.good = code == http.StatusOK; w.out.good {
		w.Header().Del("Content-Length")
	}
	w.out.w.WriteHeader(code)
	if s, ok := w.editor.(starter); ok && w.out.good {
		s.start(w.out)
	}
}

func (w *editWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.out.good {
		return w.out.w.Write(b)
	}
	if w.out.ended == goesOn && w.out.err == nil {
		w.editor.edit(w.out, b)
	}
	if err := w.failed(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError is what http.ResponseController calls.
func (w *editWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	w.out.flush()
	return w.failed()
}

// Flush is for handlers that know only http.Flusher.
func (w *editWriter) Flush() { _ = w.FlushError() }

func (w *editWriter) failed() error {
	if w.out.ended != goesOn {
		return context.Canceled
	}
	return w.out.err
}
