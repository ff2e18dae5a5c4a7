package scenario

import (
	"fmt"
	"strings"

	"informer.example/apisim/fault"
	"informer.example/informer"
)

// parseExpect: METRIC [OF] OP N, or synced yes|no, phase WORD, error TEXT…
func parseExpect(a args) (func(*runner) error, error) {
	what, err := a.word(0)
	if err != nil {
		return nil, err
	}
	switch rest := strings.Join(a[1:], " "); what {
	case "synced":
		return textual("synced", rest, func(r *runner) string {
			if r.subject.synced() {
				return "yes"
			}
			return "no"
		}), oneOf(rest, "yes", "no")
	case "phase":
		return textual("phase", rest, func(r *runner) string { return r.subject.status().Phase.String() }), nil
	case "error":
		return func(r *runner) error {
			if err := r.subject.status().LastError; (err == nil) != (rest == "none") || err != nil && !strings.Contains(err.Error(), rest) {
				return fmt.Errorf("the last error is %v", err)
			}
			return nil
		}, nil
	}
	metric, ok := metrics[what]
	if !ok {
		return nil, fmt.Errorf("%q can't be expected; there are synced, phase, error, %s", what, strings.Join(metricNames, ", "))
	}
	of, words := "", a[1:]
	if len(words) == 3 {
		of, words = words[0], words[1:]
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("an expectation is METRIC [OF] OP NUMBER, with ==, <= or >=")
	}
	want, err := words.number(1)
	if err != nil {
		return nil, err
	}
	op := words[0]
	if err := oneOf(op, "==", "<=", ">="); err != nil {
		return nil, err
	}
	return func(r *runner) error {
		got := metric(r, of)
		if op == "==" && got == want || op == "<=" && got <= want || op == ">=" && got >= want {
			return nil
		}
		return fmt.Errorf("%s is %d", strings.TrimSpace(what+" "+of), got)
	}, nil
}

func textual(what, want string, get func(*runner) string) func(*runner) error {
	return func(r *runner) error {
		if got := get(r); got != want {
			return fmt.Errorf("%s is %s", what, got)
		}
		return nil
	}
}

func oneOf(word string, allowed ...string) error {
	for _, a := range allowed {
		if word == a {
			return nil
		}
	}
	return fmt.Errorf("%q is none of %s", word, strings.Join(allowed, ", "))
}

var metricNames = []string{"objects", "lists", "pages", "watches", "watch-lists", "relists [REASON]", "events [TYPE]", "dropped", "stale", "quarantined", "attempts", "waited"}

// metrics are the numbers that can be expected.
var metrics = map[string]func(r *runner, of string) int{
	"objects":     func(r *runner, _ string) int { return r.subject.status().Objects },
	"lists":       func(r *runner, _ string) int { return r.requests(fault.List, true) },
	"pages":       func(r *runner, _ string) int { return r.requests(fault.List, false) },
	"watches":     func(r *runner, _ string) int { return r.requests(fault.Watch, false) },
	"watch-lists": func(r *runner, _ string) int { return r.requests(fault.WatchList, false) },
	"relists": func(r *runner, of string) int {
		n := 0
		for reason, count := range r.subject.status().Relists {
			if of == "" || of == string(reason) {
				n += count
			}
		}
		return n
	},
	"events":      func(r *runner, of string) int { return r.told(of) },
	"dropped":     func(r *runner, _ string) int { return r.subject.status().Dropped },
	"stale":       func(r *runner, _ string) int { return int(r.subject.status().Stale) },
	"quarantined": func(r *runner, _ string) int { return r.subject.status().Quarantined },
	"attempts":    func(r *runner, _ string) int { return r.subject.status().Attempts },
	// seconds from the end of the script until everything was at rest
	"waited": func(r *runner, _ string) int { return int(r.waited.Seconds()) },
}

// count is one event that a handler was told, as far as it is counted.
type count struct {
	typ     informer.EventType
	initial bool
}
