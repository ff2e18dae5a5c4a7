package apisim

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Server is a simulated API server. It owns no goroutine: each request is
// served by the goroutine of its transport. All methods are safe for
// concurrent use.
type Server struct {
	store  *store
	codecs *codecs
	routes map[string]*table // by group/version/resource
	groups []apiGroup
	stats  stats
	gzips  gzipPool
	fault  atomic.Pointer[func(*http.Request) Fault]

	// Set by options, then constant.
	resources        []Resource
	window           int
	watchBuffer      int
	bookmarkInterval time.Duration
	compress         bool
}

// Option changes a default of New.
type Option func(*Server)

// WithResource adds resources, or replaces built-in ones.
func WithResource(resources ...Resource) Option {
	return func(s *Server) { s.resources = append(s.resources, resources...) }
}

// WithHistory sets how many writes of each resource stay readable: the window
// in which a watch can resume and an old state can be listed. Default 8192, at
// least 1. Memory grows with it, by one object and its encodings for each write.
func WithHistory(events int) Option {
	return func(s *Server) { s.window = max(events, 1) }
}

// WithWatchBuffer sets how many writes a watch may be behind, once a write to
// its client has blocked for 100 ms, before the server ends it. Default 1000.
func WithWatchBuffer(events int) Option {
	return func(s *Server) { s.watchBuffer = max(events, 0) }
}

// WithBookmarkInterval sets the time between bookmarks. Default one minute.
func WithBookmarkInterval(d time.Duration) Option {
	return func(s *Server) { s.bookmarkInterval = max(d, time.Millisecond) }
}

// WithoutCompression answers without gzip even if the client accepts it, for
// measurements in which the server's own CPU time should be small.
func WithoutCompression() Option {
	return func(s *Server) { s.compress = false }
}

// New returns a server with the built-in resources and those of the options.
// It panics on a resource description that cannot work, which is a mistake in
// the calling program; NewServer returns it as an error.
func New(opts ...Option) *Server {
	s, err := NewServer(opts...)
	if err != nil {
		panic(err)
	}
	return s
}

// NewServer is New that reports an impossible resource description.
func NewServer(opts ...Option) (*Server, error) {
	s := &Server{
		resources:        BuiltIns(),
		window:           8192,
		watchBuffer:      1000,
		bookmarkInterval: time.Minute,
		compress:         true,
	}
	for _, o := range opts {
		o(s)
	}
	last := make(map[string]int, len(s.resources))
	for i := range s.resources {
		if err := s.resources[i].complete(); err != nil {
			return nil, err
		}
		last[routeKey(s.resources[i].GVR)] = i
	}
	kept := s.resources[:0:0]
	for i, r := range s.resources {
		if last[routeKey(r.GVR)] == i {
			kept = append(kept, r)
		}
	}
	s.resources = kept

	var err error
	if s.codecs, err = newCodecs(s.resources); err != nil {
		return nil, err
	}
	s.store = newStore(s.resources, s.window)
	s.routes = make(map[string]*table, len(s.resources))
	for gvr, t := range s.store.tables {
		s.routes[routeKey(gvr)] = t
	}
	if len(s.routes) != len(s.resources) {
		return nil, fmt.Errorf("apisim: two resources share a path")
	}
	s.groups = discover(s.resources)
	return s, nil
}

// Config returns a client configuration that talks to the server in memory,
// without client-side rate limits. It works inside a testing/synctest bubble
// if the server's clients run in that bubble.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://apisim.invalid", Transport: s.RoundTripper(), QPS: -1}
}
