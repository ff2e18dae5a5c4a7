package invariant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"informer.example/object"
)

// Options says what the checker is to know and to allow. The zero value fits a
// client with the reflector's defaults.
type Options struct {
	History *History // nil: I1 and I8 are checked at the end alone
	Verify  bool     // the client verifies its state now and then
	// Burst is how many attempts that bring nothing may fall within ten seconds:
	// 15 if 0. A doubling wait with full jitter stays below it.
	Burst int
	// MaxWait is the longest wait of the client's own, on top of Retry-After:
	// 30 s if 0.
	MaxWait time.Duration
	// Slack is how long a watch may outlive timeoutSeconds: 31 s if 0.
	// ListTimeout bounds a list: 91 s if 0.
	Slack, ListTimeout time.Duration
	// MaxPage is how much of one page is looked into: 64 MiB if 0. From a longer
	// one on, what the client asks for isn't judged.
	MaxPage int
}

// Violation is an invariant that was broken.
type Violation struct {
	ID   string // "I1" to "I14"; "H1" and so on, of package informer; or the caller's
	Text string
}

func (v Violation) String() string { return v.ID + ": " + v.Text }

// maxViolations bounds what is kept: the first ones tell most.
const maxViolations = 50

// Checker gathers what a client does. It is safe for concurrent use.
type Checker struct {
	opts Options

	mu         sync.Mutex // guards what follows
	violations []Violation
	store      storeView
	told       map[object.Key]Version // what a handler knows
	wire       wireView
	synced     bool
}

// New returns a checker that has seen nothing.
func New(opts Options) *Checker {
	opts.Burst = cmp.Or(opts.Burst, 15)
	opts.MaxWait = cmp.Or(opts.MaxWait, 30*time.Second)
	opts.Slack = cmp.Or(opts.Slack, 31*time.Second)
	opts.MaxPage = cmp.Or(opts.MaxPage, 64<<20)
	opts.ListTimeout = cmp.Or(opts.ListTimeout, 91*time.Second)
	return &Checker{opts: opts, told: make(map[object.Key]Version), wire: newWireView()}
}

// Write runs do, which writes to the server and records that in the History. Nobody
// looks meanwhile: a client may see a write before it is recorded.
func (c *Checker) Write(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return do()
}

// Violations returns what was broken so far, in the order in which it was seen.
func (c *Checker) Violations() []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.violations)
}

// BrokenError is what was broken.
type BrokenError struct{ Violations []Violation }

func (e *BrokenError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.String()
	}
	return "invariants broken:\n" + strings.Join(lines, "\n")
}

// Err returns the violations as a [*BrokenError], nil if there is none.
func (c *Checker) Err() error {
	if found := c.Violations(); len(found) > 0 {
		return &BrokenError{found}
	}
	return nil
}

// Broken notes what the caller has found by itself.
func (c *Checker) Broken(id, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken(id, format, args...)
}

// broken notes a violation. Called with mu.
func (c *Checker) broken(id, format string, args ...any) {
	if len(c.violations) < maxViolations {
		c.violations = append(c.violations, Violation{id, fmt.Sprintf(format, args...)})
	}
}
