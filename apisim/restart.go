package apisim

import (
	"fmt"
	"math"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// SetLag keeps what this server has heard of so many revisions behind the
// store; Frozen stops it where it is, 0 lets it catch up at once. It never goes
// back, and never falls behind the history (WithHistory).
//
// A server that lags answers resourceVersion "0" with an old state, lets a
// request for an RV it has not heard of wait, and tells watches late. Writes,
// and reads of resources without a watch cache, are not affected.
func (s *Server) SetLag(revisions uint64) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.cache.lag = revisions
	s.cache.heard(nil)
}

// SeenResourceVersion returns the RV that this server has heard of. It is below
// ResourceVersion while the server lags.
func (s *Server) SeenResourceVersion() string { return formatRV(s.cache.current()) }

// RestartOptions say how a server goes down and how long it is down.
type RestartOptions struct {
	// Cut breaks the connections of open watches. Without it they end cleanly.
	Cut bool
	// NotReady is how long the new watch caches take to build: lists and watches
	// that need them get 429 until then. 0: they are ready at once.
	NotReady time.Duration
}

// Restart ends the server's watches and starts it with a new watch cache, which
// holds the state of the moment when it is ready: no watch can start below that.
// The store and the other servers go on.
func (s *Server) Restart(opts RestartOptions) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	c := s.cache
	if opts.NotReady > 0 {
		c.downSince = time.Now()
		c.readyAt = c.downSince.Add(opts.NotReady)
	} else {
		c.downSince, c.readyAt = time.Time{}, time.Time{}
		c.rebuild()
	}
	c.closeAll(opts.Cut)
}

// notReady is the answer of a server whose watch cache is being built.
func (s *Server) notReady() error {
	since, ok := s.cache.ready()
	if ok {
		return nil
	}
	return apierrors.NewTooManyRequests("storage is (re)initializing", retryUnready(time.Since(since)))
}

// retryUnready is the real server's advice: a second at first, rising to thirty
// within a minute.
func retryUnready(down time.Duration) int {
	return int(min(30, max(1, math.Exp(0.06*down.Seconds()))))
}

// serveReady answers /readyz.
func (s *Server) serveReady(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.notReady() != nil {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintln(w, "[+]ping ok\n[-]watchcache failed: reason withheld\nreadyz check failed")
		return
	}
	_, _ = w.Write([]byte("ok")) // the client may be gone
}
