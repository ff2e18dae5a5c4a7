package sim

import (
	"slices"
	"strings"
)

// Shrink returns the shortest program it finds that still fails, by delta
// debugging over the steps, then over the names within them and the settings.
// fails plays a program and says whether it fails as the first one did; it is
// asked most times if it would be asked more often.
//
// The result is minimal in that no single step can be left out, unless most ended
// it earlier.
func Shrink(p Program, most int, fails func(Program) bool) Program {
	s := shrinker{best: p, left: most, fails: fails}
	for before := -1; before != s.left && s.left > 0; {
		before = s.left
		size := s.size()
		s.steps()
		s.words()
		s.settings()
		if s.size() == size {
			break
		}
	}
	return s.best
}

type shrinker struct {
	best  Program
	left  int // so many programs may be played yet
	fails func(Program) bool
}

// try plays a shorter program, and keeps it if it fails too.
func (s *shrinker) try(p Program) bool {
	if s.left <= 0 {
		return false
	}
	s.left--
	if !s.fails(p) {
		return false
	}
	s.best = p
	return true
}

// size is what shrinking is to make less.
func (s *shrinker) size() (n int) {
	for _, step := range s.best.Steps {
		for _, line := range step {
			n += len(strings.Fields(line))
		}
	}
	return n + len(s.best.Server) + len(s.best.Client)
}

// steps leaves out runs of steps, long ones first.
func (s *shrinker) steps() {
	for n := max(len(s.best.Steps)/2, 1); n >= 1 && s.left > 0; {
		removed := false
		// From the end: what comes later seldom makes sense without what came before.
		for to := len(s.best.Steps); to > 0; to -= n {
			to = min(to, len(s.best.Steps))
			from := max(to-n, 0)
			p := s.best
			p.Steps = slices.Delete(slices.Clone(p.Steps), from, to)
			removed = s.try(p) || removed
		}
		if n == 1 && !removed {
			return
		}
		if n > 1 || !removed {
			n = max(n/2, 1)
		}
	}
}

// words leaves out names of writes: "put a b c" becomes "put b".
func (s *shrinker) words() {
	for i := 0; i < len(s.best.Steps); i++ {
		for w := 1; len(s.best.Steps[i]) == 1; {
			words := strings.Fields(s.best.Steps[i][0])
			if verb := words[0]; verb != "put" && verb != "drop" || len(words) <= 2 || w >= len(words) {
				break
			}
			p := s.best
			p.Steps = slices.Clone(p.Steps)
			p.Steps[i] = Step{strings.Join(slices.Delete(words, w, w+1), " ")}
			if !s.try(p) {
				w++
			}
		}
	}
}

// settings leaves out settings of the server and of the client. The queue and the
// encoding stay: without them a replay would be another run.
func (s *shrinker) settings() {
	without := func(lines []string, i int) []string { return slices.Delete(slices.Clone(lines), i, i+1) }
	for i := len(s.best.Server) - 1; i >= 0; i-- {
		p := s.best
		if name, _, _ := strings.Cut(p.Server[i], " "); name == "objects" {
			p.Server = slices.Clone(p.Server)
			if p.Server[i] = "objects 0"; p.Server[i] == s.best.Server[i] {
				continue
			}
		} else {
			p.Server = without(p.Server, i)
		}
		s.try(p)
	}
	for i := len(s.best.Client) - 1; i >= 0; i-- {
		p := s.best
		if name, _, _ := strings.Cut(p.Client[i], " "); name == "queue" || name == "encoding" {
			continue
		}
		p.Client = without(p.Client, i)
		s.try(p)
	}
}
