package apisim

import "time"

// config is what options set. Each server of a cluster has the same.
type config struct {
	resources        []Resource
	history          int // writes of each resource that the store keeps
	watchWindow      int // of those, how many a watch can resume in; 0: all
	watchBuffer      int
	bookmarkInterval time.Duration
	compress         bool
	sharding         bool
}

func newConfig(opts []Option) config {
	c := config{
		resources:        BuiltIns(),
		history:          8192,
		watchBuffer:      1000,
		bookmarkInterval: time.Minute,
		compress:         true,
	}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// Option changes a default of New and NewCluster.
type Option func(*config)

// WithResource adds resources, or replaces built-in ones.
func WithResource(resources ...Resource) Option {
	return func(c *config) { c.resources = append(c.resources, resources...) }
}

// WithHistory sets how many writes of each resource stay readable: the window
// in which a watch can resume and an old state can be listed. Default 8192, at
// least 1. Memory grows with it, by one object and its encodings for each write.
func WithHistory(events int) Option {
	return func(c *config) { c.history = max(events, 1) }
}

// WithWatchWindow makes the window in which a watch can resume smaller than the
// history, as on a real server, whose watch cache and etcd forget by rules of
// their own: an exact list can then show a state that no watch can start from.
func WithWatchWindow(events int) Option {
	return func(c *config) { c.watchWindow = max(events, 1) }
}

// WithWatchBuffer sets how many writes a watch may be behind, once a write to
// its client has blocked for 100 ms, before the server ends it. Default 1000.
func WithWatchBuffer(events int) Option {
	return func(c *config) { c.watchBuffer = max(events, 0) }
}

// WithBookmarkInterval sets the time between bookmarks. Default one minute.
func WithBookmarkInterval(d time.Duration) Option {
	return func(c *config) { c.bookmarkInterval = max(d, time.Millisecond) }
}

// WithSharding turns the shardSelector parameter on. Without it the parameter is
// ignored, as by a real server without the feature gate ShardedListAndWatch.
func WithSharding() Option {
	return func(c *config) { c.sharding = true }
}

// WithoutCompression answers without gzip even if the client accepts it, for
// measurements in which the server's own CPU time should be small.
func WithoutCompression() Option {
	return func(c *config) { c.compress = false }
}
