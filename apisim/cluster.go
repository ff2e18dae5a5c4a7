package apisim

import (
	"fmt"
)

// maxServers bounds a cluster: each commit tells every server.
const maxServers = 64

// Cluster is one store with the API servers in front of it: what etcd is to a
// real cluster, and what its API servers are. A write through one server is
// seen through all of them, as soon as the lag of each allows (SetLag).
//
// All methods are safe for concurrent use.
type Cluster struct {
	store   *store
	servers []*Server
}

// NewCluster returns a cluster of n servers, which share the options.
func NewCluster(n int, opts ...Option) (*Cluster, error) {
	if n < 1 || n > maxServers {
		return nil, fmt.Errorf("apisim: a cluster of %d servers; 1 to %d are possible", n, maxServers)
	}
	cfg := newConfig(opts)
	if err := cfg.completeResources(); err != nil {
		return nil, err
	}
	codecs, err := newCodecs(cfg.resources)
	if err != nil {
		return nil, err
	}
	c := &Cluster{store: newStore(cfg.resources, cfg.history)}
	routes := make(map[string]*table, len(cfg.resources))
	for gvr, t := range c.store.tables {
		routes[routeKey(gvr)] = t
	}
	if len(routes) != len(cfg.resources) {
		return nil, fmt.Errorf("apisim: two resources share a path")
	}
	groups := discover(cfg.resources)
	for range n {
		c.servers = append(c.servers, &Server{
			config: cfg, cluster: c, store: c.store, cache: c.store.newCache(cfg.watchWindow),
			codecs: codecs, routes: routes, groups: groups,
		})
	}
	return c, nil
}

// completeResources fills defaults; of two resources with one path the later
// replaces the earlier.
func (c *config) completeResources() error {
	last := make(map[string]int, len(c.resources))
	for i := range c.resources {
		if err := c.resources[i].complete(); err != nil {
			return err
		}
		last[routeKey(c.resources[i].GVR)] = i
	}
	kept := c.resources[:0:0]
	for i, r := range c.resources {
		if last[routeKey(r.GVR)] == i {
			kept = append(kept, r)
		}
	}
	c.resources = kept
	return nil
}

// Server returns the i-th server, from 0.
func (c *Cluster) Server(i int) *Server { return c.servers[i] }

// Servers returns all servers.
func (c *Cluster) Servers() []*Server { return append([]*Server(nil), c.servers...) }

// ResourceVersion returns the RV of the newest write of any resource.
func (c *Cluster) ResourceVersion() string { return formatRV(c.store.current()) }

// Compact forgets the states before the RV, as etcd's compaction does: exact
// lists and continue tokens below it get 410 Expired. The servers' watch caches
// keep what they have; only watches of a resource without one end their window
// at the RV. An RV that does not exist yet is refused; an older one than the
// last is no change.
func (c *Cluster) Compact(resourceVersion string) error {
	rv, err := parseRV(resourceVersion)
	if err != nil {
		return fmt.Errorf("apisim: compact: %w", err)
	}
	return c.store.compactTo(rv)
}

// Rollback restores the state of the RV, as a backup of etcd would, and with it
// the counter: RVs above it are given out a second time, to other writes. Every
// server starts with a new cache at the RV. Open watches stay open and are
// silent until the counter has passed what they have seen; Restart ends them.
//
// It fails, and changes nothing, if the history does not reach back to the RV.
func (c *Cluster) Rollback(resourceVersion string) error {
	rv, err := parseRV(resourceVersion)
	if err != nil {
		return fmt.Errorf("apisim: roll back: %w", err)
	}
	return c.store.rollback(rv)
}

// Bump advances the counter by n, as writes of resources would that this
// server does not have.
func (c *Cluster) Bump(n uint64) { c.store.bump(n) }
