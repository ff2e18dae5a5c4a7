package fault

import (
	"net/http"
	"sync"
	"time"
)

// holding is the fault that Hold describes. It keeps what the server writes in
// memory meanwhile; the server sees a reader that is quick.
func holding(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		h := &holdWriter{w: w, lasts: d}
		defer h.end()
		next.ServeHTTP(h, r)
	}
}

type holdWriter struct {
	w     http.ResponseWriter
	lasts time.Duration

	mu    sync.Mutex // held while writing to w, too
	held  []byte
	timer *time.Timer // nil before the first byte
	open  bool        // nothing is held back any more
	err   error
}

func (h *holdWriter) Header() http.Header { return h.w.Header() }

func (h *holdWriter) WriteHeader(code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.w.WriteHeader(code)
}

func (h *holdWriter) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		return h.w.Write(b)
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(h.lasts, h.release)
	}
	h.held = append(h.held, b...)
	return len(b), h.err
}

// FlushError is what http.ResponseController calls. Headers go out; the rest
// waits.
func (h *holdWriter) FlushError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	return http.NewResponseController(h.w).Flush()
}

// Flush is for handlers that know only http.Flusher.
func (h *holdWriter) Flush() { _ = h.FlushError() }

// release lets everything through, from now on.
func (h *holdWriter) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		return
	}
	h.open = true
	if _, h.err = h.w.Write(h.held); h.err == nil {
		h.err = http.NewResponseController(h.w).Flush()
	}
	h.held = nil
}

// end belongs to the end of the answer: what is held must not be written later.
func (h *holdWriter) end() {
	h.release()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
	}
}
