package scenario

import (
	"fmt"
	"strings"
)

// section is one file of a txtar archive, by lines. Lines that are empty or begin
// with # are left out.
type section struct {
	name  string
	lines []line
}

type line struct {
	number int // in the file, from 1
	text   string
}

// Error is what is wrong at a line of a scenario.
type Error struct {
	File string
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// sections splits a txtar archive. What comes before the first section is a
// comment. golang.org/x/tools/txtar does the same, and forgets the line numbers.
func sections(data string) []section {
	var out []section
	for i, text := range strings.Split(data, "\n") {
		text = strings.TrimSpace(text)
		if name, ok := marker(text); ok {
			out = append(out, section{name: name})
			continue
		}
		if text == "" || strings.HasPrefix(text, "#") || len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		last.lines = append(last.lines, line{i + 1, text})
	}
	return out
}

func marker(text string) (name string, ok bool) {
	name, ok = strings.CutPrefix(text, "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, " --")
	return strings.TrimSpace(name), ok
}
