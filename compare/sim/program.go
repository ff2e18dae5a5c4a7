package sim

import (
	"fmt"
	"strings"
)

// Program is a scenario in the making: what a seed came to, or what shrinking has
// left of it.
type Program struct {
	Seed   uint64
	Server []string // lines of the section
	Client []string
	Steps  []Step
	Faults []string // ids of the faults of the wire contract that are in it
}

// Step is what is kept or left out as a whole: a line of the script, or several
// that make sense together only.
type Step []string

// Archive returns the program as a txtar archive that package scenario can play.
func (p Program) Archive(story string) []byte {
	var b strings.Builder
	section := func(name string, lines ...string) {
		fmt.Fprintf(&b, "-- %s --\n", name)
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	section("story", strings.Split(strings.TrimSpace(story), "\n")...)
	section("server", p.Server...)
	section("client", p.Client...)
	section("script")
	for _, s := range p.Steps {
		b.WriteString(strings.Join(s, "\n") + "\n")
	}
	section("expect")
	return []byte(b.String())
}

// Lines counts the lines of the script.
func (p Program) Lines() (n int) {
	for _, s := range p.Steps {
		n += len(s)
	}
	return n
}
