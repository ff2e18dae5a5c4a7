package apisim

import (
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Server is a simulated API server. It owns no goroutine: each request is
// served by the goroutine of its transport. All methods are safe for
// concurrent use.
type Server struct {
	config // constant

	cluster *Cluster
	store   *store
	cache   *cache
	codecs  *codecs
	routes  map[string]*table // by group/version/resource
	groups  []apiGroup
	stats   stats
	gzips   gzipPool
	fault   atomic.Pointer[func(*http.Request) Fault]
}

// New returns a server, alone in its cluster, with the built-in resources and
// those of the options. It panics on a resource description that cannot work,
// which is a mistake in the calling program; NewServer returns it as an error.
func New(opts ...Option) *Server {
	s, err := NewServer(opts...)
	if err != nil {
		panic(err)
	}
	return s
}

// NewServer is New that reports an impossible resource description.
func NewServer(opts ...Option) (*Server, error) {
	c, err := NewCluster(1, opts...)
	if err != nil {
		return nil, err
	}
	return c.Server(0), nil
}

// Cluster returns the cluster that the server belongs to.
func (s *Server) Cluster() *Cluster { return s.cluster }

// Config returns a client configuration that talks to the server in memory,
// without client-side rate limits. It works inside a testing/synctest bubble
// if the server's clients run in that bubble.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://apisim.invalid", Transport: s.RoundTripper(), QPS: -1}
}
