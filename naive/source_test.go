package naive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is one scripted answer to List.
type page struct {
	items       []string // see item
	rv          string
	next        string // the continue token that leads to the next page
	quarantined []object.Key
	err         error // after the items
	hang        bool  // after the items, until the request is cancelled
}

// script is a Source that answers from a script, one page per List, and then
// fails. It notes what it was asked.
type script struct {
	t     *testing.T
	pages []page
	asked []reflector.ListOptions
}

func (s *script) List(ctx context.Context, opts reflector.ListOptions, yield func(object.Item[configMap]) error) (reflector.ListMeta, error) {
	s.asked = append(s.asked, opts)
	if len(s.pages) == 0 {
		return reflector.ListMeta{}, errors.New("the script is over")
	}
	p := s.pages[0]
	s.pages = s.pages[1:]
	for _, i := range p.items {
		if err := yield(item(s.t, i)); err != nil {
			return reflector.ListMeta{}, err
		}
	}
	if p.hang {
		<-ctx.Done()
		return reflector.ListMeta{}, ctx.Err()
	}
	meta := reflector.ListMeta{ResourceVersion: p.rv, Continue: p.next}
	for _, key := range p.quarantined {
		meta.Quarantined = append(meta.Quarantined, reflector.Quarantine{Key: key, Err: errors.New("mangled")})
	}
	return meta, p.err
}

func (s *script) Watch(context.Context, reflector.WatchOptions) (reflector.Stream[configMap], error) {
	return nil, errors.New("a poller doesn't watch")
}

// recorder is a handler that writes down its events, in the form
// "ADDED key uid@rv", with "initial" where that is so.
type recorder struct {
	mu     sync.Mutex
	lines  []string
	events []informer.Event[configMap]
}

func (r *recorder) HandleEvent(e informer.Event[configMap]) {
	line := fmt.Sprintf("%s %s %s@%s", e.Type, e.Key, e.UID, e.ResourceVersion)
	if e.Type == informer.Updated {
		line = fmt.Sprintf("%s %s %s@%s>%s", e.Type, e.Key, e.UID, e.OldResourceVersion, e.ResourceVersion)
	}
	line += " " + e.Source.String()
	if e.Initial {
		line += " initial"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	r.events = append(r.events, e)
}

// take returns the lines since the last take.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := slices.Clone(r.lines)
	r.lines = nil
	return lines
}

func names(objs []configMap) []string {
	var out []string
	for _, o := range objs {
		out = append(out, object.Key{Namespace: o.Namespace, Name: o.Name}.String()+"@"+o.ResourceVersion)
	}
	return out
}

// running is a Run in a goroutine of its own.
type running struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
}

func start(t *testing.T, run func(context.Context) error) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t, cancel, make(chan error, 1)}
	go func() { r.done <- run(ctx) }()
	return r
}

// stop ends the context and fails the test unless Run then returns nil
// without any time passing.
func (r *running) stop() {
	r.t.Helper()
	r.cancel()
	before := time.Now()
	if err := <-r.done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if took := time.Since(before); took != 0 {
		r.t.Errorf("Run took %v to return", took)
	}
}
