package compare

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the result for people.
func (r Result) WriteTable(w io.Writer) error {
	var b strings.Builder
	c := r.Config
	fmt.Fprintf(&b, "%d pods, %d writes in %s, %s, %s server; naive polls every %s\n\n", c.Objects, c.Writes,
		seconds(c.DurationSeconds), c.Encoding, c.Server, seconds(c.PollIntervalSeconds))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	columns := []string{"subject", "requests", "received", "CPU", "peak RSS", "stale p50", "stale p99", "missed", "converged"}
	fmt.Fprintln(t, strings.Join(columns, "\t")+"\t")
	for _, s := range r.Subjects {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", s.Name, s.Requests, bytesText(&s.BytesReceived),
			cpuText(s.CPUSeconds), bytesText(s.PeakRSSBytes), msText(s.StalenessP50Ms), msText(s.StalenessP99Ms),
			s.MissedStates, yes(s.Converged))
	}
	t.Flush()
	b.WriteString("\nreceived: on the wire; a server compresses large lists and watch-lists, but no plain watch\n" +
		"stale: from the write to the handler call; missed: states the handler was never told\n")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unknown stands for what the operating system does not tell.
const unknown = "unknown"

func seconds(s float64) string { return time.Duration(s * float64(time.Second)).String() }

func cpuText(s *float64) string {
	if s == nil {
		return unknown
	}
	return fmt.Sprintf("%.2f s", *s)
}

func msText(ms *float64) string {
	switch {
	case ms == nil:
		return unknown
	case *ms < 10:
		return fmt.Sprintf("%.2f ms", *ms)
	case *ms < 1000:
		return fmt.Sprintf("%.0f ms", *ms)
	}
	return fmt.Sprintf("%.2f s", *ms/1000)
}

func bytesText(n *int64) string {
	switch {
	case n == nil:
		return unknown
	case *n < 10_000:
		return fmt.Sprintf("%d B", *n)
	case *n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(*n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(*n)/1e6)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
