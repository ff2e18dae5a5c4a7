package reflector

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"time"
)

// withDefaults fills in what was left zero.
func (o Options) withDefaults() Options {
	switch {
	case o.PageSize == 0:
		o.PageSize = 500
	case o.PageSize < 0:
		o.PageSize = 0
	}
	o.WatchTimeoutMin = cmp.Or(max(o.WatchTimeoutMin, 0), 5*time.Minute)
	o.WatchTimeoutMax = max(cmp.Or(o.WatchTimeoutMax, 2*o.WatchTimeoutMin), o.WatchTimeoutMin)
	o.Slack = cmp.Or(max(o.Slack, 0), 30*time.Second)
	o.ListTimeout = cmp.Or(max(o.ListTimeout, 0), 90*time.Second)
	o.OpenTimeout = cmp.Or(max(o.OpenTimeout, 0), 30*time.Second)
	o.MarkerTimeout = cmp.Or(max(o.MarkerTimeout, 0), time.Minute)
	o.IdleTimeout = max(o.IdleTimeout, 0)
	o.PollInterval = max(o.PollInterval, 0)
	o.VerifyEvery = max(o.VerifyEvery, 0)
	o.Backoff.Initial = cmp.Or(max(o.Backoff.Initial, 0), 800*time.Millisecond)
	o.Backoff.Factor = max(cmp.Or(o.Backoff.Factor, 2), 1)
	o.Backoff.Max = max(cmp.Or(o.Backoff.Max, 30*time.Second), o.Backoff.Initial)
	o.Backoff.Healthy = cmp.Or(max(o.Backoff.Healthy, 0), time.Minute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}

// policy is what of the options the state machine needs.
func (o Options) policy() policy {
	return policy{
		pageSize: o.PageSize,
		backoff:  o.Backoff,
		failFast: o.FailFast,
		short:    min(5*time.Second, o.WatchTimeoutMin/2),
		streams:  o.WatchList == WatchListAuto,
		poll:     o.PollInterval,
		verify:   o.VerifyEvery,
	}
}
