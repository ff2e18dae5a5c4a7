package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/compare/invariant"
	"informer.example/compare/scenario"
)

// Failure is what a program has found.
type Failure struct {
	// Kind is the id of what was broken first, such as "I1"; see package invariant.
	// "script" means that the program itself makes no sense.
	Kind string
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Short is the first thing that was broken.
func (f *Failure) Short() string {
	var broken *invariant.BrokenError
	if errors.As(f.Err, &broken) {
		return broken.Violations[0].String()
	}
	return f.Err.Error()
}

// Story is what stands at the head of the scenario.
func (f *Failure) Story(seed uint64) string {
	return fmt.Sprintf("Seed %d of the simulation, shortened. It broke\n%s", seed, strings.ReplaceAll(f.Short(), "\n", " "))
}

// Play runs a program in a bubble of its own. It returns nil if everything held.
func Play(t *testing.T, p Program, setup scenario.Setup) *Failure {
	s, err := scenario.Parse(fmt.Sprintf("S%d_seed.txtar", p.Seed), p.Archive("A program."))
	if err != nil {
		return &Failure{"script", err}
	}
	setup.Settle = synctest.Wait
	setup.Looks = 10
	synctest.Test(t, func(t *testing.T) {
		err = scenario.Run(t.Context(), s, setup)
		// What lingers was counted. A bubble in which it never ended would end
		// the process.
		time.Sleep(time.Hour)
	})
	if err == nil {
		return nil
	}
	var broken *invariant.BrokenError
	if errors.As(err, &broken) {
		return &Failure{broken.Violations[0].ID, err}
	}
	return &Failure{"script", err}
}

// Smallest shortens a program that has failed, by playing at most so many others.
// A shorter one counts if it breaks the same thing first. It returns how that one
// fails. What depends on an order that is chance, and doesn't fail again at once,
// is played several times.
func Smallest(t *testing.T, p Program, f *Failure, setup scenario.Setup, most int) (Program, *Failure) {
	fails := func(p Program) bool {
		again := Play(t, p, setup)
		if again == nil || again.Kind != f.Kind {
			return false
		}
		f = again
		return true
	}
	times := 1
	if !fails(p) {
		times = 8
	}
	small := Shrink(p, most, func(p Program) bool {
		for range times {
			if fails(p) {
				return true
			}
		}
		return false
	})
	return small, f
}
