package fault

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fault stands between a request and the server. It may answer by itself, call
// next with the request, a changed one or a writer of its own, do nothing, or
// panic with http.ErrAbortHandler to break the connection. nil is no fault.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Op is a set of kinds of requests.
type Op uint8

// The kinds of requests. A request is of exactly one of them.
const (
	List      Op = 1 << iota // a list, any page
	Watch                    // a watch that begins at a version
	WatchList                // a watch that asks for the state first
	Other                    // everything else

	Sync   = List | WatchList  // how a client gets the state
	Stream = Watch | WatchList // what stays open
	Any    = List | Watch | WatchList | Other
)

// OpOf says what kind of request r is, and of which resource, as in "pods".
func OpOf(r *http.Request) (op Op, resource string) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return Other, ""
	}
	if parts[0] == "namespaces" && len(parts) >= 3 {
		parts = parts[2:]
	}
	if r.Method != http.MethodGet || len(parts) != 1 {
		return Other, parts[0]
	}
	q := r.URL.Query()
	switch watch := q.Get("watch"); {
	case watch == "" || watch == "0" || watch == "false":
		return List, parts[0]
	case q.Get("sendInitialEvents") == "true":
		return WatchList, parts[0]
	}
	return Watch, parts[0]
}

// Script chooses which request meets which fault. The zero value is an empty
// one. It is safe for concurrent use, and may change while it is in use.
type Script struct {
	mu    sync.Mutex
	rules []*Rule
	pages map[string]int // by path: the page that the last list request asked for
}

// New returns a script without rules.
func New() *Script { return &Script{} }

// On adds a rule for requests of these kinds. It says nothing until Do.
func (s *Script) On(ops Op) *Rule { return &Rule{script: s, ops: ops, first: 1} }

// Clear ends all faults: it removes the rules. Answers under way go on as they
// are.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// Choose returns the fault that r is to meet, nil for none. It counts: call it
// once for each request.
func (s *Script) Choose(r *http.Request) Fault {
	op, resource := OpOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	page := s.page(op, r)
	for _, rule := range s.rules {
		if rule.matches(op, resource, page) && rule.fires() {
			return rule.fault
		}
	}
	return nil
}

// page counts the pages of the list that r belongs to. Called with mu.
func (s *Script) page(op Op, r *http.Request) int {
	if op != List {
		return 0
	}
	if s.pages == nil {
		s.pages = make(map[string]int)
	}
	if r.URL.Query().Get("continue") == "" {
		s.pages[r.URL.Path] = 0
	}
	s.pages[r.URL.Path]++
	return s.pages[r.URL.Path]
}

// Handler puts the script in front of a server.
func (s *Script) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.Choose(r); f != nil {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Rule says which requests meet a fault. Its settings are made before Do; each
// returns the rule.
type Rule struct {
	script   *Script
	ops      Op
	resource string
	atPage   int
	first    int           // the matching request that it begins with, from 1
	times    int           // how many it lasts, 0: no end
	lasting  time.Duration // how long it lasts from the first, 0: no end
	fault    Fault

	// Guarded by script.mu.
	seen  int // matching requests
	hits  int
	since time.Time // of the first hit
}

// Resource keeps the rule to one resource, as in "pods".
func (r *Rule) Resource(name string) *Rule { r.resource = name; return r }

// Page keeps the rule to the nth page of a list, counted from 1.
func (r *Rule) Page(n int) *Rule { r.atPage = n; return r }

// From begins with the nth request that matches, counted from 1.
func (r *Rule) From(n int) *Rule { r.first = max(n, 1); return r }

// Times ends the rule after n requests.
func (r *Rule) Times(n int) *Rule { r.times = n; return r }

// Nth is for the nth request alone: From(n).Times(1).
func (r *Rule) Nth(n int) *Rule { return r.From(n).Times(1) }

// For ends the rule this long after its first request.
func (r *Rule) For(d time.Duration) *Rule { r.lasting = d; return r }

// Do says which fault the requests meet, and puts the rule into force.
func (r *Rule) Do(f Fault) *Rule {
	r.fault = f
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	r.script.rules = append(r.script.rules, r)
	return r
}

// Hits returns how many requests have met the fault.
func (r *Rule) Hits() int {
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	return r.hits
}

func (r *Rule) matches(op Op, resource string, page int) bool {
	return r.ops&op != 0 &&
		(r.resource == "" || r.resource == resource) &&
		(r.atPage == 0 || r.atPage == page)
}

// fires counts a request that matches, and decides. Called with script.mu.
func (r *Rule) fires() bool {
	r.seen++
	switch {
	case r.seen < r.first, r.times > 0 && r.hits >= r.times:
		return false
	case r.hits == 0:
		r.since = time.Now()
	case r.lasting > 0 && time.Since(r.since) >= r.lasting:
		return false
	}
	r.hits++
	return true
}
