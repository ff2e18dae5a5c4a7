package scenario

import (
	"errors"
	"fmt"
	"time"

	"informer.example/apisim"
)

// parseVerb understands a line of a script.
func parseVerb(words []string) (func(*runner) error, error) {
	a := args(words[1:])
	switch words[0] {
	case "sync":
		return (*runner).sync, nil
	case "start":
		return (*runner).start, nil
	case "create", "update", "delete", "recreate", "relabel":
		n, err := a.number(0)
		if len(a) > 1 {
			if words[0] != "delete" || a[1] != "together" {
				return nil, fmt.Errorf("%q is no word here; only deletions happen together", a[1])
			}
			return func(r *runner) error { return r.deleteTogether(n) }, err
		}
		return func(r *runner) error { return r.write(words[0], n) }, err
	case "put", "drop":
		return parseNamed(words[0], a)
	case "rest":
		return (*runner).restNow, nil
	case "join":
		return parseJoin(a)
	case "leave", "stall", "resume", "panic":
		return parseHandler(words[0], a)
	case "index", "unindex":
		return parseIndex(words[0], a)
	case "fault":
		return parseFault(a)
	case "clear":
		return func(r *runner) error { r.faults.Clear(); return nil }, nil
	case "advance":
		d, err := a.duration(0)
		return func(r *runner) error { r.advance(d); return nil }, err
	case "compact":
		return func(r *runner) error { r.front().Compact(); return nil }, nil
	case "close":
		return func(r *runner) error { r.front().CloseWatches(); return nil }, nil
	case "restart":
		return parseRestart(a)
	case "lag":
		return parseLag(a)
	case "use":
		n, err := a.number(0)
		return func(r *runner) error { return r.use(n) }, err
	case "rollback":
		n, err := a.number(0)
		return func(r *runner) error { return r.rollback(n) }, err
	case "bump":
		n, err := a.number(0)
		return func(r *runner) error { r.cluster.Bump(uint64(n)); return nil }, err
	case "expect":
		return parseExpect(a)
	}
	return nil, fmt.Errorf("verb %q is unknown; there are %s", words[0], verbs)
}

const verbs = "sync, start, create, update, delete, recreate, relabel, put, drop, fault, clear, advance, rest, compact, close, " +
	"restart, lag, use, rollback, bump, join, leave, stall, resume, panic, index, unindex and expect"

func (r *runner) restNow() error {
	if r.running == nil {
		return errNotStarted
	}
	return r.rest()
}

// parseRestart: restart [DURATION] [cut]
func parseRestart(a args) (func(*runner) error, error) {
	var opts apisim.RestartOptions
	for i, w := range a {
		if w == "cut" {
			opts.Cut = true
			continue
		}
		var err error
		if opts.NotReady, err = a.duration(i); err != nil {
			return nil, err
		}
	}
	return func(r *runner) error { r.front().Restart(opts); return nil }, nil
}

// parseLag: lag N|frozen SERVER
func parseLag(a args) (func(*runner) error, error) {
	server, err := a.number(1)
	if err != nil {
		return nil, err
	}
	lag := uint64(apisim.Frozen)
	if a[0] != "frozen" {
		n, err := a.number(0)
		if err != nil {
			return nil, err
		}
		lag = uint64(n)
	}
	return func(r *runner) error {
		if server >= len(r.cluster.Servers()) {
			return fmt.Errorf("there is no server %d", server)
		}
		r.cluster.Server(server).SetLag(lag)
		return nil
	}, nil
}

var errNotStarted = errors.New("the informer doesn't run yet: sync or start comes first")

// maxSettle is how long an informer may take to come to rest.
const maxSettle = 20 * time.Minute
