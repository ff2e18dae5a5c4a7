package scenario

import (
	"fmt"
	"strings"
	"time"

	"informer.example/apisim/fault"
)

var kinds = map[string]fault.Op{
	"list": fault.List, "watch": fault.Watch, "watch-list": fault.WatchList,
	"state": fault.Sync, "stream": fault.Stream, "any": fault.Any,
}

// parseFault: KIND [nth=N] [from=N] [times=N] [for=D] [page=N] : EFFECT ARGS
func parseFault(a args) (func(*runner) error, error) {
	split := -1
	for i, w := range a {
		if w == ":" {
			split = i
		}
	}
	if split < 1 || split == len(a)-1 {
		return nil, fmt.Errorf("a fault is KIND [WHICH] : EFFECT")
	}
	ops, ok := kinds[a[0]]
	if !ok {
		return nil, fmt.Errorf("requests of kind %q are unknown; there are list, watch, watch-list, state, stream and any", a[0])
	}
	which := a[1:split]
	if err := setRule(fault.New().On(ops), which); err != nil {
		return nil, err
	}
	make, err := parseEffect(a[split+1], a[split+2:])
	if err != nil {
		return nil, err
	}
	return func(r *runner) error {
		rule := r.faults.On(ops)
		_ = setRule(rule, which) // it was tried before
		rule.Do(make(r))
		return nil
	}, nil
}

func setRule(rule *fault.Rule, which args) error {
	for _, w := range which {
		name, value, _ := strings.Cut(w, "=")
		if name == "for" {
			d, err := args{value}.duration(0)
			if err != nil {
				return err
			}
			rule.For(d)
			continue
		}
		n, err := args{value}.number(0)
		if err != nil {
			return err
		}
		switch name {
		case "nth":
			rule.Nth(n)
		case "from":
			rule.From(n)
		case "times":
			rule.Times(n)
		case "page":
			rule.Page(n)
		default:
			return fmt.Errorf("%q is unknown; there are nth=, from=, times=, for= and page=", w)
		}
	}
	return nil
}

// effect makes a fault when the script comes to it.
type effect func(*runner) fault.Fault

func parseEffect(name string, a args) (effect, error) {
	for _, table := range []map[string]func(args) (effect, error){answers, connections, watches, lists} {
		if parse, ok := table[name]; ok {
			return parse(a)
		}
	}
	return nil, fmt.Errorf("effect %q is unknown", name)
}

// fixed is an effect that needs nothing.
func fixed(f func() fault.Fault) func(args) (effect, error) {
	return func(args) (effect, error) { return func(*runner) fault.Fault { return f() }, nil }
}

// counted is an effect with a number.
func counted(f func(n int) fault.Fault) func(args) (effect, error) {
	return func(a args) (effect, error) {
		n, err := a.number(0)
		return func(*runner) fault.Fault { return f(n) }, err
	}
}

// timed is an effect with a duration, 0 if it is missing.
func timed(f func(d time.Duration) fault.Fault) func(args) (effect, error) {
	return func(a args) (effect, error) {
		d, err := a.durationOr(0, 0)
		return func(*runner) fault.Fault { return f(d) }, err
	}
}

var answers = map[string]func(args) (effect, error){
	"overloaded": timed(fault.Overloaded),
	"panicked":   fixed(fault.Panicked),
	"draining":   fixed(fault.Draining),
	"deadline":   fixed(fault.DeadlineBeforeHeaders),
	"too-large":  timed(fault.TooLarge),
	"html": fixed(func() fault.Fault {
		return fault.Respond(200, "text/html; charset=utf-8", "<html><body>Welcome</body></html>")
	}),
	// expired [TOKEN]
	"expired": func(a args) (effect, error) {
		token := ""
		if len(a) > 0 {
			token = a[0]
		}
		return func(*runner) fault.Fault { return fault.Expired(token) }, nil
	},
	// answer CODE [after=D] [MESSAGE…]
	"answer": func(a args) (effect, error) {
		code, err := a.number(0)
		if err != nil {
			return nil, err
		}
		st, after, rest := fault.StatusFor(code), time.Duration(0), a[1:]
		if len(rest) > 0 && strings.HasPrefix(rest[0], "after=") {
			if after, err = (args{strings.TrimPrefix(rest[0], "after=")}).duration(0); err != nil {
				return nil, err
			}
			rest = rest[1:]
		}
		if len(rest) > 0 {
			st.Message = strings.Join(rest, " ")
		}
		return func(*runner) fault.Fault { return fault.Refuse(st, after) }, nil
	},
}

var connections = map[string]func(args) (effect, error){
	"break":   fixed(fault.Break),
	"hang":    fixed(fault.Hang),
	"silence": fixed(fault.Silence),
	"delay":   timed(fault.Delay),
	"cut":     counted(func(n int) fault.Fault { return fault.CutAfter(int64(n)) }),
	"reset":   counted(func(n int) fault.Fault { return fault.Reset(int64(n)) }),
	"hold":    timed(fault.Hold),
}

var watches = map[string]func(args) (effect, error){
	"end":             counted(fault.EndAfter),
	"break-after":     counted(fault.BreakAfter),
	"no-bookmarks":    fixed(fault.DropBookmarks),
	"no-marker":       fixed(fault.WithholdMarker),
	"twice-bookmarks": fixed(fault.RepeatBookmarks),
	"false-markers":   fixed(fault.FalseMarker),
	"wrong-bookmarks": fixed(fault.WrongBookmark),
	"replay":          counted(fault.Replay),
	"ghosts":          fixed(fault.GhostDelete),
	// error CODE|too-large N
	"error": func(a args) (effect, error) {
		st := fault.TooLargeStatus()
		if len(a) > 0 && a[0] != "too-large" {
			code, err := a.number(0)
			if err != nil {
				return nil, err
			}
			st = fault.StatusFor(code)
		}
		n, err := a.number(1)
		return func(*runner) fault.Fault { return fault.ErrorAfter(n, st) }, err
	},
	// cut-frame N clean|broken
	"cut-frame": func(a args) (effect, error) {
		n, err := a.number(0)
		if err != nil {
			return nil, err
		}
		how, err := a.word(1)
		if err == nil && how != "clean" && how != "broken" {
			err = fmt.Errorf("%q is neither clean nor broken", how)
		}
		return func(*runner) fault.Fault { return fault.CutFrame(n, how == "clean") }, err
	},
	// bad KIND N
	"bad": func(a args) (effect, error) {
		n, err := a.number(1)
		if err != nil {
			return nil, err
		}
		switch how := fault.Bad(a[0]); how {
		case fault.Garbage, fault.UnknownType, fault.NullObject, fault.HugeLength, fault.HugeFrame:
			return func(*runner) fault.Fault { return fault.BadFrame(n, how) }, nil
		}
		return nil, fmt.Errorf("%q is unknown", a[0])
	},
	// bookmark-ahead N: a bookmark at the server's newest version
	"bookmark-ahead": func(a args) (effect, error) {
		n, err := a.number(0)
		return func(r *runner) fault.Fault { return fault.BookmarkAfter(n, r.cluster.ResourceVersion) }, err
	},
	// retype FROM TO
	"retype": func(a args) (effect, error) {
		to, err := a.word(1)
		if err != nil {
			return nil, err
		}
		return func(*runner) fault.Fault { return fault.Retype(a[0], to) }, nil
	},
	// members N [lazy]
	"members": func(a args) (effect, error) {
		n, err := a.number(0)
		lazy := len(a) > 1 && a[1] == "lazy"
		return func(*runner) fault.Fault { return fault.Members(n, lazy) }, err
	},
}

var lists = map[string]func(args) (effect, error){
	"null-items":  fixed(fault.NullItems),
	"empty-pages": fixed(fault.EmptyPages),
	"strange":     fixed(fault.StrangeProtobuf),
	// cut-list PLACE N [clean]
	"cut-list": func(a args) (effect, error) {
		n, err := a.number(1)
		if err != nil {
			return nil, err
		}
		switch at := fault.Place(a[0]); at {
		case fault.InsideItem, fault.BetweenItems, fault.BeforeMetadata, fault.BeforeTrailer:
			return func(*runner) fault.Fault { return fault.CutList(at, n, len(a) > 2 && a[2] == "clean") }, nil
		}
		return nil, fmt.Errorf("place %q is unknown", a[0])
	},
	// status-tail N
	"status-tail": counted(func(n int) fault.Fault { return fault.StatusTail(n, fault.StatusFor(500)) }),
	// version [V]
	"version": func(a args) (effect, error) {
		rv := strings.Join(a, "")
		return func(*runner) fault.Fault { return fault.ListVersion(func(string) string { return rv }) }, nil
	},
	// repeat-item old-first|old-last
	"repeat-item": func(a args) (effect, error) {
		where, err := a.word(0)
		return func(*runner) fault.Fault { return fault.RepeatItem(where == "old-first") }, err
	},
	// ignore PARAMETER…
	"ignore": func(a args) (effect, error) {
		return func(*runner) fault.Fault { return fault.IgnoreQuery(a...) }, nil
	},
	// gzip HOW
	"gzip": func(a args) (effect, error) {
		how, err := a.word(0)
		return func(*runner) fault.Fault { return fault.CorruptGzip(fault.Corrupt(how)) }, err
	},
}
