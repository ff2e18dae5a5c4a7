package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// has reports whether the lines are in the program, in this order.
func has(p Program, lines ...string) bool {
	for _, s := range p.Steps {
		for _, l := range s {
			if len(lines) > 0 && strings.Contains(l, lines[0]) {
				lines = lines[1:]
			}
		}
	}
	return len(lines) == 0
}

// TestShrink: what is left is what the failure needs, and no more.
func TestShrink(t *testing.T) {
	var p Program
	p.Server = []string{"objects 7", "servers 3", "history 9"}
	p.Client = []string{"queue inorder", "encoding json", "lists", "page 2"}
	for n := range 40 {
		p.Steps = append(p.Steps, Step{fmt.Sprintf("put a%02d b%02d c%02d", n, n, n)})
	}
	p.Steps = append(p.Steps, Step{"rest", "rollback 1", "rest"}, Step{"drop b07"})
	tests := []struct {
		why   string
		fails func(Program) bool
		want  []Step
	}{
		{"one step, and one name in it", func(p Program) bool { return has(p, "b33") }, []Step{{"put b33"}}},
		{"two, far from each other", func(p Program) bool { return has(p, "c02", "drop b07") }, []Step{{"put c02"}, {"drop b07"}}},
		{"lines that belong together stay together", func(p Program) bool { return has(p, "rollback") }, []Step{{"rest", "rollback 1", "rest"}}},
		{"any three of them", func(p Program) bool { return len(p.Steps) >= 3 && has(p, "drop") },
			[]Step{{"put a0"}, {"put a1"}, {"drop b07"}}},
		{"nothing at all", func(p Program) bool { return true }, nil},
	}
	for _, tt := range tests {
		small := Shrink(p, 1000, tt.fails)
		if len(small.Steps) != len(tt.want) || !tt.fails(small) {
			t.Errorf("%s: %q, want %q", tt.why, small.Steps, tt.want)
			continue
		}
		if tt.why == "any three of them" {
			continue // which, is up to it
		}
		for i, s := range small.Steps {
			if !slices.Equal(s, tt.want[i]) {
				t.Errorf("%s: %q, want %q", tt.why, small.Steps, tt.want)
			}
		}
		if !slices.Equal(small.Server, []string{"objects 0"}) || !slices.Equal(small.Client, []string{"queue inorder", "encoding json"}) {
			t.Errorf("%s: settings %q %q", tt.why, small.Server, small.Client)
		}
	}
}

// A program that resists doesn't hold up a run for ever.
func TestShrink_Most(t *testing.T) {
	played := 0
	p := Program{Steps: make([]Step, 100)}
	for i := range p.Steps {
		p.Steps[i] = Step{"close"}
	}
	Shrink(p, 25, func(Program) bool { played++; return false })
	if played != 25 {
		t.Errorf("%d programs were played", played)
	}
}
