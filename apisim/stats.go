package apisim

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
)

// Op names a kind of request. Verb is get, list, watch, watchlist (a watch that
// asks for the initial state itself), create, update, patch, delete,
// deletecollection, or "" for a path that is no resource. Resource is as in
// "pods" or "deployments.apps".
type Op struct {
	Verb, Resource string
}

// Stats counts what clients did. Direct writes are not counted.
type Stats struct {
	Requests  map[Op]int64 // when they arrived, whatever the answer
	BytesSent int64        // of bodies, as handed to the transport
	Watches   int          // open now
}

// Count returns the requests with the verb and the resource; "" matches all.
func (s Stats) Count(verb, resource string) int64 {
	var n int64
	for op, c := range s.Requests {
		if (verb == "" || verb == op.Verb) && (resource == "" || resource == op.Resource) {
			n += c
		}
	}
	return n
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	watches := s.cache.watchCount()
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	return Stats{Requests: maps.Clone(s.stats.requests), BytesSent: s.stats.sent.Load(), Watches: watches}
}

type stats struct {
	mu       sync.Mutex
	requests map[Op]int64 // guarded by mu
	sent     atomic.Int64
}

func (s *stats) count(op Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil {
		s.requests = make(map[Op]int64)
	}
	s.requests[op]++
}

// countingWriter adds what is written to sent.
type countingWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.sent.Add(int64(n))
	return n, err
}

// Unwrap lets http.ResponseController reach the transport's Flush.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (c *cache) watchCount() int {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	n := 0
	for _, t := range c.tables {
		n += len(t.watchers)
	}
	return n
}
