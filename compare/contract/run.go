package contract

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Outcome is what became of a clause.
type Outcome struct {
	Clause  Clause
	Verdict Verdict
	// Reason is why it differs by design.
	Reason string
	// Broken is what was seen; nil if the clause holds.
	Broken *Broken
}

// Verdict is the outcome in one word.
type Verdict string

// The verdicts. Holds and Differs are as expected.
const (
	Holds   Verdict = "holds"
	Differs Verdict = "differs"
	Fails   Verdict = "fails"
	// Stale is a clause that holds though it is said to differ.
	Stale Verdict = "holds, against what is said"
)

// Run (R1) holds an implementation against every clause, each as a subtest in a
// bubble of virtual time. What isn't as the implementation says of itself is an
// error of t. The outcomes are of the clauses that ran.
func Run(t *testing.T, impl Implementation) []Outcome {
	for id := range impl.Differs {
		if clauseOf(id) == nil {
			t.Errorf("%s is said to differ in %q, which is no clause", impl.Name, id)
		}
	}
	var all []Outcome
	for _, c := range clauses() {
		t.Run(c.id, func(t *testing.T) {
			o := judge(t, c, impl)
			all = append(all, o)
			switch o.Verdict {
			case Fails:
				t.Error(o.Broken)
			case Stale:
				t.Errorf("%s: %s\n  it holds, though it is said to differ: %q", c.id, c.sentence, o.Reason)
			case Differs:
				t.Logf("differs by design: %s\n%v", o.Reason, o.Broken)
			}
		})
	}
	return all
}

// Try runs one clause. It belongs into a test of its own.
func Try(t *testing.T, id string, impl Implementation) (Outcome, error) {
	c := clauseOf(id)
	if c == nil {
		return Outcome{}, fmt.Errorf("contract: there is no clause %q", id)
	}
	return judge(t, c, impl), nil
}

func judge(t *testing.T, c *clause, impl Implementation) Outcome {
	o := Outcome{Clause: Clause{c.id, c.sentence, slices.Clone(c.needs)}, Reason: impl.reason(c)}
	o.Broken = try(t, c, impl)
	switch {
	case o.Broken == nil && o.Reason == "":
		o.Verdict = Holds
	case o.Broken == nil:
		o.Verdict = Stale
	case o.Reason != "":
		o.Verdict = Differs
	default:
		o.Verdict = Fails
	}
	return o
}

// realTime is how long a clause may take (R3). Virtual time stands still while a
// goroutine waits for a mutex or loops, so only a real clock sees that.
const realTime = 2 * time.Minute

// try runs a clause in a bubble.
func try(t *testing.T, c *clause, impl Implementation) (broken *Broken) {
	watchdog := time.AfterFunc(realTime, func() {
		panic(fmt.Sprintf("clause %s on %s has not ended after %v of real time: a goroutine waits for a mutex that is held for ever, or loops without a pause", c.id, impl.Name, realTime))
	})
	defer watchdog.Stop()
	var w *world
	defer func() {
		// The bubble's own complaint: a goroutine is left that nothing will wake.
		if p := recover(); p != nil {
			if w == nil || w.broken == nil {
				panic(p)
			}
			broken = w.broken
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(c, impl)
		w.play()
	})
	return w.broken
}
