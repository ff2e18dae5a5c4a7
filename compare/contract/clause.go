package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// clause is one promise and its test.
type clause struct {
	id       string // also the name of its subtest
	sentence string
	needs    []Capability
	test     func(*world)
}

// Clause is a promise of an informer.
type Clause struct {
	ID       string
	Sentence string
	Needs    []Capability
}

// Clauses returns the suite in the order in which it runs.
func Clauses() []Clause {
	var all []Clause
	for _, c := range clauses() {
		all = append(all, Clause{c.id, c.sentence, c.needs})
	}
	return all
}

func clauses() []*clause {
	return slices.Concat(initialClauses(), syncClauses(), eventClauses(), deleteClauses(), storeClauses(), scopeClauses(),
		resumeClauses(), watchClauses(), listClauses(), versionClauses(), handlerClauses(), transformClauses(), indexClauses(), panicClauses(), stopClauses())
}

// clauseOf finds a clause.
func clauseOf(id string) *clause {
	for _, c := range clauses() {
		if c.id == id {
			return c
		}
	}
	return nil
}

// Broken says that a Subject doesn't keep a clause.
type Broken struct {
	Clause Clause
	// Done is what was done, in order, each with the virtual time.
	Done []string
	// Seen is what was seen instead of what the clause says.
	Seen string
	// Err is the Subject's own error, if it has refused to take part.
	Err error
}

func (b *Broken) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n", b.Clause.ID, b.Clause.Sentence)
	s.WriteString("  done:\n")
	for _, d := range b.Done {
		fmt.Fprintf(&s, "    %s\n", d)
	}
	fmt.Fprintf(&s, "  seen:\n    %s", strings.ReplaceAll(b.Seen, "\n", "\n    "))
	return s.String()
}

// Unwrap returns the Subject's own error.
func (b *Broken) Unwrap() error { return b.Err }

// Unsupported reports whether the Subject said that it can't do what the clause
// asks for.
func (b *Broken) Unsupported() bool { return errors.Is(b.Err, errors.ErrUnsupported) }
