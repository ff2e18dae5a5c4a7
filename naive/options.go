package naive

import (
	"time"
)

// Options changes how a [Poller] polls. The zero value is a good choice.
type Options struct {
	// Interval is the pause from the end of one poll, handler calls included,
	// to the start of the next: 30 s if 0. Measured so, a server that takes
	// longer than the interval to answer is still left alone for one interval,
	// where a ticker would ask again at once. A server that asks for a longer
	// pause (Retry-After) gets it, up to 5 minutes.
	Interval time.Duration
	// PageSize is the limit asked for: 500 if 0, no paging if negative.
	PageSize int64
	// PageTimeout bounds the fetch of one page: 90 s if 0.
	PageTimeout time.Duration
	// MaxObjects bounds the state: 1,000,000 if 0. A list with more fails.
	MaxObjects int
	// OnPoll is told the outcome of each poll, after its events. It is called
	// by the goroutine of Run and must not block.
	OnPoll func(Stats)
}

// maxRetryAfter bounds what a server, or a broken proxy before it, can make
// the poller wait.
const maxRetryAfter = 5 * time.Minute

func (o Options) withDefaults() Options {
	if o.Interval <= 0 {
		o.Interval = 30 * time.Second
	}
	if o.PageSize == 0 {
		o.PageSize = 500
	}
	o.PageSize = max(o.PageSize, 0)
	if o.PageTimeout <= 0 {
		o.PageTimeout = 90 * time.Second
	}
	if o.MaxObjects <= 0 {
		o.MaxObjects = 1_000_000
	}
	return o
}
