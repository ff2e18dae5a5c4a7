package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"informer.example/compare"
)

// progress shows how far a comparison is: a bar on a terminal, otherwise a line
// for each phase of each subject.
type progress struct {
	out      io.Writer
	terminal bool
	start    time.Time
	total    time.Duration // about
	last     string        // what the last line was about
}

func newProgress(out io.Writer, total time.Duration) *progress {
	p := &progress{out: out, start: time.Now(), total: total}
	if f, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	}
	return p
}

const (
	barWidth  = 24
	clearLine = "\r\x1b[K"
)

func (p *progress) show(now compare.Progress) {
	what := string(now.Phase)
	if now.Subject != "" {
		what = fmt.Sprintf("%d/%d %s: %s", now.Number, now.Of, now.Subject, now.Phase)
	}
	if !p.terminal {
		if what != p.last {
			fmt.Fprintln(p.out, what)
		}
		p.last = what
		return
	}
	elapsed := time.Since(p.start)
	filled := int(float64(barWidth) * min(elapsed.Seconds()/p.total.Seconds(), 1))
	if now.Expected > 0 {
		what += fmt.Sprintf(" %d of %d s", int(now.Elapsed.Seconds()), int(now.Expected.Seconds()))
	}
	fmt.Fprintf(p.out, "%s[%s%s] %s", clearLine, strings.Repeat("#", filled), strings.Repeat("-", barWidth-filled), what)
}

// done takes the bar away.
func (p *progress) done() {
	if p.terminal {
		fmt.Fprint(p.out, clearLine)
	}
}
