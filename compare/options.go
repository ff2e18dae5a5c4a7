package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Encoding is what objects are encoded in on the wire.
type Encoding string

const (
	JSON     Encoding = "json"
	Protobuf Encoding = "protobuf"
)

// Limits of the options. They bound the memory that a run needs.
const (
	MaxObjects = 200_000
	MaxRate    = 10_000
	MaxWrites  = 200_000 // rate × duration
)

// Options say what to compare. A zero field takes its default.
type Options struct {
	Subjects []string // names, see SubjectNames; default DefaultSubjects
	Objects  int      // pods at the start; default 5,000
	Rate     int      // writes per second; default 100
	Duration time.Duration
	Encoding Encoding // default Protobuf
	// PollInterval is the pause between two polls of the naive subject; default 1 s.
	PollInterval time.Duration
	// Seed fixes the writes. 0 is a seed like any other.
	Seed uint64
	// Kubeconfig is a file that names a real cluster to run on instead of the
	// simulated server; Context one of its contexts, "" its current one.
	Kubeconfig, Context string
	// SyncTimeout bounds a subject's first sync (default 2 min), SettleTimeout
	// the wait for its cache to equal the server (default 30 s).
	SyncTimeout, SettleTimeout time.Duration
	// Command starts this program as a child: it must call ChildMain. Default:
	// this executable with the argument ChildArgument.
	Command []string
	// OnProgress, if set, is told how far the run is. It is called by Run's own
	// goroutine and must return soon.
	OnProgress func(Progress)
}

// DefaultSubjects are the ones that run if none are named.
func DefaultSubjects() []string { return []string{naiveName, oursName, clientGoName} }

// WithDefaults returns the options with every zero field set.
func (o Options) WithDefaults() Options {
	if len(o.Subjects) == 0 {
		o.Subjects = DefaultSubjects()
	}
	o.Objects = cmp.Or(o.Objects, 5000)
	o.Rate = cmp.Or(o.Rate, 100)
	o.Duration = cmp.Or(o.Duration, 15*time.Second)
	o.Encoding = cmp.Or(o.Encoding, Protobuf)
	o.PollInterval = cmp.Or(o.PollInterval, time.Second)
	o.SyncTimeout = cmp.Or(o.SyncTimeout, 2*time.Minute)
	o.SettleTimeout = cmp.Or(o.SettleTimeout, 30*time.Second)
	return o
}

// OptionError says which option cannot be used and why.
type OptionError struct {
	Option string // as in Options, in lower case: "subjects"
	Value  string
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Option, e.Value, e.Reason)
}

// Validate returns an [*OptionError] for the first option that cannot be used.
// It takes a zero as it is, not for the default.
func (o Options) Validate() error {
	bad := func(option string, value any, reason string, args ...any) error {
		return &OptionError{Option: option, Value: fmt.Sprint(value), Reason: fmt.Sprintf(reason, args...)}
	}
	if len(o.Subjects) == 0 {
		return bad("subjects", "", "name at least one of %s", strings.Join(SubjectNames(), ", "))
	}
	seen := map[string]bool{}
	for _, name := range o.Subjects {
		switch {
		case !slices.Contains(SubjectNames(), name):
			return bad("subjects", name, "unknown; known are %s", strings.Join(SubjectNames(), ", "))
		case seen[name]:
			return bad("subjects", name, "named twice")
		}
		seen[name] = true
	}
	switch {
	case o.Objects < 1 || o.Objects > MaxObjects:
		return bad("objects", o.Objects, "must be from 1 to %d", MaxObjects)
	case o.Rate < 1 || o.Rate > MaxRate:
		return bad("rate", o.Rate, "must be from 1 to %d writes a second", MaxRate)
	case o.Duration < 100*time.Millisecond || o.Duration > time.Hour:
		return bad("duration", o.Duration, "must be from 100ms to 1h")
	case writesIn(o.Rate, o.Duration) > MaxWrites:
		return bad("duration", o.Duration, "%d writes a second make more than %d writes; lower one of the two", o.Rate, MaxWrites)
	case o.Encoding != JSON && o.Encoding != Protobuf:
		return bad("encoding", o.Encoding, "must be %s or %s", JSON, Protobuf)
	case o.PollInterval < 10*time.Millisecond || o.PollInterval > time.Hour:
		return bad("poll-interval", o.PollInterval, "must be from 10ms to 1h")
	case o.SyncTimeout <= 0 || o.SettleTimeout <= 0:
		return bad("timeout", min(o.SyncTimeout, o.SettleTimeout), "must be above 0")
	}
	return nil
}

// Estimate is about how long Run takes if nothing goes wrong.
func (o Options) Estimate() time.Duration {
	o = o.WithDefaults()
	perSubject := o.Duration + time.Duration(2+o.Objects/5000)*time.Second
	if o.Kubeconfig != "" {
		perSubject += time.Duration(o.Objects/500) * time.Second
	}
	return time.Duration(len(o.Subjects)) * perSubject
}
