package reflector

import (
	"context"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Sink takes what a [Reflector] has made sure of. Its methods are called by
// the goroutine of Run, one at a time. An error ends Run, which returns it.
type Sink[T metav1.Object] interface {
	// Replace hands over a complete list. Objects that it doesn't hold, and
	// doesn't name in Keep, are gone. The sink owns the slices.
	Replace(ctx context.Context, list List[T]) error
	// Apply hands over one Added, Modified or Deleted event, in the server's
	// order. Its object may be known already, or not: Added and Modified both
	// mean "this is the state now".
	Apply(ctx context.Context, ev Event[T]) error
	// Bookmark says that everything up to resourceVersion rv was handed over.
	Bookmark(ctx context.Context, rv string) error
}

// List is one complete list.
type List[T metav1.Object] struct {
	// Items are the objects, each key once.
	Items []object.Item[T]
	// Keep names the quarantined objects: they exist, so what is stored of
	// them stays as it is.
	Keep []object.Key
	// ResourceVersion is the version that the list stands for; it is usable.
	// It is "" for a resource that is polled because its lists have none.
	ResourceVersion string
	// Reason is why there is a list again; "" for the first.
	Reason RelistReason
}

// RelistReason says why a list was needed although there was one before.
type RelistReason string

// The reasons for another list. A broken connection is none of them: the watch
// resumes where it was.
const (
	// RelistExpired: the server no longer has the changes since the last event (410).
	RelistExpired RelistReason = "Expired"
	// RelistTooLarge: the server hasn't reached the last event's version.
	RelistTooLarge RelistReason = "ResourceVersionTooLarge"
	// RelistBadFrame: a watch event couldn't be read, so a change is missing.
	RelistBadFrame RelistReason = "BadFrame"
	// RelistRejected: the server called the watch request itself invalid.
	RelistRejected RelistReason = "WatchRejected"
	// RelistRollback: the server proved to be at an older version than the
	// one already seen (etcd restored from a backup). The only list whose
	// version goes backwards.
	RelistRollback RelistReason = "Rollback"
	// RelistVerify: it was time to make sure ([Options].VerifyEvery).
	RelistVerify RelistReason = "Verify"
	// RelistPoll: the resource can't be watched, and is listed every
	// [Options].PollInterval.
	RelistPoll RelistReason = "Poll"
)

// Phase is what a [Reflector] is doing.
type Phase uint8

// The phases, in the order in which a run meets them.
const (
	Idle     Phase = iota // Run hasn't been called
	Listing               // a list is in flight, in pages or as a watch-list
	Watching              // a watch is being opened or is open
	Waiting               // after a failure, until NextAttempt
	Polling               // between two lists of a resource that can't be watched, until NextAttempt
	Stopped               // Run has returned
)

// String returns the phase's name.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

var phaseNames = [...]string{Idle: "Idle", Listing: "Listing", Watching: "Watching", Waiting: "Waiting", Polling: "Polling", Stopped: "Stopped"}

// Status is what a [Reflector] says about itself. It is a copy.
type Status struct {
	Phase Phase
	Since time.Time // when the phase was entered
	// ResourceVersion is the version up to which the sink has everything; ""
	// before the first list is complete.
	ResourceVersion string
	// LastHeard is when the server last sent a page or an event, accepted a
	// watch or ended one.
	LastHeard time.Time
	// FreshAt is when a server last said that this is the state: a list counts
	// from when it was asked for, an event and a bookmark from when they came.
	// Zero before the first list is complete. See Age.
	FreshAt time.Time
	// LastError is the latest failure; nil once a list is complete, an event has
	// arrived, or a quiet watch's server has been probed after it.
	LastError error
	// Attempts counts the failed attempts since the last success, the first of
	// which was at FailingSince.
	Attempts     int
	FailingSince time.Time
	// NextAttempt is when Waiting or Polling ends.
	NextAttempt time.Time

	Lists       int                  // lists started, in pages or as watch-lists; the pages of one list count once
	WatchLists  int                  // those of them that were watch-lists
	Watches     int                  // watches started; a watch-list is one, since it goes on as one
	Relists     map[RelistReason]int // complete lists after the first, by reason
	Dropped     int                  // events not applied because they were older than what was known
	Quarantined int                  // objects received that couldn't be decoded or transformed
	Reused      int                  // objects received that weren't decoded, since the sink's owner has them: see Reuser
}

// Age is how old the data may be at that time: how long no server has said that
// it is the state. While a watch is open it stays below about a minute, since
// servers send bookmarks at that pace, except for resources that have none
// (events). It can't tell how far the answering server itself lags behind.
// Before the first list is complete there is no data, and the age is 0.
func (s Status) Age(now time.Time) time.Duration {
	if s.FreshAt.IsZero() {
		return 0
	}
	return max(now.Sub(s.FreshAt), 0)
}

// WatchListMode says whether states are asked for as watch-lists.
type WatchListMode uint8

const (
	// WatchListAuto asks for a watch-list (KEP-3157) first, and for a list in
	// pages where the server doesn't know it.
	WatchListAuto WatchListMode = iota
	// WatchListNever always asks for lists in pages.
	WatchListNever
)

// Options changes how a [Reflector] works. The zero value is a good choice.
type Options struct {
	// PageSize is the limit asked for in lists: 500 if 0, no paging if negative.
	PageSize int64
	// WatchTimeoutMin and WatchTimeoutMax bound the server's timeout of each
	// watch, chosen at random between them: 5 and 10 minutes if 0.
	WatchTimeoutMin, WatchTimeoutMax time.Duration
	// Slack is how long past its timeout a silent watch is borne before the
	// connection is given up: 30 s if 0.
	Slack time.Duration
	// ListTimeout bounds the fetch of one page: 90 s if 0.
	ListTimeout time.Duration
	// WatchList says how the state is asked for. A watch-list brings it as
	// events, on the stream that then goes on as the watch.
	WatchList WatchListMode
	// OpenTimeout is how long a server may take to accept a watch: 30 s if 0.
	OpenTimeout time.Duration
	// MarkerTimeout is how long a watch-list may be silent before the marker
	// that ends its state: 60 s if 0. After that lists come in pages, for as
	// long as the reflector runs.
	MarkerTimeout time.Duration
	// IdleTimeout is how long a watch may be silent before it is opened anew.
	// 0 leaves that to the end of its timeout. It must be well above a minute,
	// the pace of bookmarks; events of Kubernetes ("events") have none, so that
	// a quiet cluster's watch of them is opened anew again and again.
	IdleTimeout time.Duration
	// PollInterval is the pause between two lists of a resource that can't be
	// watched: it lacks the verb, or its lists have no version. 0 makes that an
	// error instead. A watch is tried again now and then.
	PollInterval time.Duration
	// VerifyEvery is how often the whole state is listed again to make sure,
	// between two watches. It bounds how long a change can stay unnoticed that
	// no event told of: part of a group of objects that expired together while
	// the watch broke, or a server's defect. 0: never.
	VerifyEvery time.Duration
	// Backoff is the pace of attempts after failures.
	Backoff Backoff
	// FailFast makes Run return an error when the server answers 401, 403,
	// 404 or, unless polling is allowed, 405, instead of trying until that is
	// mended.
	FailFast bool

	// OnStatus is told when the phase or the last error has changed. It is
	// called by the goroutine of Run, with no lock held, and must not block.
	OnStatus func(Status)
	// OnQuarantine is told of each object that couldn't be decoded or
	// transformed, in the same way.
	OnQuarantine func(Quarantine)
	// Trace is told of requests and of what comes off the wire, if the source
	// tells it: [HTTPSource] does.
	Trace *Trace
	// Logger gets a line when an error begins and when it is over, and at a
	// growing distance in between. Nil logs nothing.
	Logger *slog.Logger
	// Rand returns numbers in [0, 1); nil means [math/rand/v2.Float64].
	Rand func() float64
}

// Backoff is the pace of attempts after failures: the nth wait is random
// between nothing and min(Initial·Factorⁿ, Max), or that on top of what the
// server asked for by Retry-After.
type Backoff struct {
	Initial time.Duration // 0.8 s if 0
	Factor  float64       // 2 if 0
	Max     time.Duration // 30 s if 0
	// Healthy is how long a watch must have lived for the waits to begin from
	// Initial again: 1 minute if 0.
	Healthy time.Duration
}
