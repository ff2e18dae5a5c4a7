package compare

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"informer.example/compare/internal/child"
	"informer.example/compare/internal/usage"
)

// startRequest says which subject to start on what.
type startRequest struct {
	Subject      string
	Target       target
	Encoding     Encoding
	PollInterval time.Duration
	Timeout      time.Duration
}

// settleRequest says what the server holds.
type settleRequest struct {
	Count   int
	Digest  string
	Timeout time.Duration
}

// measurement is what a subject has cost, and what its handler was told.
type measurement struct {
	Requests      int64
	BytesReceived int64
	CPU           *time.Duration // nil: unknown
	PeakRSS       *int64         // nil: unknown
	Told          []Told
	Converged     bool
	Cache         []Version // if not converged
}

// subjectChild is a subject in its process.
type subjectChild struct {
	subject   subject
	wire      wire
	recorder  recorder
	cpuBefore time.Duration
}

func (c *subjectChild) register(m *child.Mux) {
	child.Handle(m, methodStart, c.start)
	child.Handle(m, methodSettle, c.settle)
}

// start returns when the subject has synced; it is measured from here on (M2).
func (c *subjectChild) start(ctx context.Context, r startRequest) (none, error) {
	cfg, err := r.Target.config()
	if err != nil {
		return none{}, err
	}
	cfg.QPS = -1 // no client-side limit
	c.cpuBefore, _ = usage.CPU()
	c.subject, err = startSubject(r.Subject, surroundings{
		config:       c.wire.through(cfg),
		namespace:    r.Target.Namespace,
		encoding:     r.Encoding,
		pollInterval: r.PollInterval,
		recorder:     &c.recorder,
	})
	if err != nil {
		return none{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("no first sync within %v", r.Timeout))
	defer cancel()
	if err := c.subject.waitForSync(ctx); err != nil {
		return none{}, err
	}
	c.recorder.recording.Store(true)
	return none{}, nil
}

// settle waits until the cache equals the server, takes the figures and stops
// the subject.
func (c *subjectChild) settle(ctx context.Context, r settleRequest) (measurement, error) {
	if c.subject == nil {
		return measurement{}, fmt.Errorf("settle before start")
	}
	defer c.subject.stop()
	var m measurement
	m.Converged = c.converges(ctx, r)
	m.Requests = c.wire.requests.Load()
	m.BytesReceived = c.wire.received.Load()
	if cpu, ok := usage.CPU(); ok {
		cpu -= c.cpuBefore
		m.CPU = &cpu
	}
	if peak, ok := usage.PeakRSS(); ok {
		m.PeakRSS = &peak
	}
	m.Told = c.recorder.told()
	if !m.Converged {
		m.Cache = c.subject.versions()
	}
	return m, nil
}

// converges compares the cache with the server, and again only after another
// handler call, so that waiting costs the subject next to nothing.
func (c *subjectChild) converges(ctx context.Context, r settleRequest) bool {
	deadline := time.NewTimer(r.Timeout)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	compare := func() bool {
		versions := c.subject.versions()
		return len(versions) == r.Count && digest(versions) == r.Digest
	}
	for {
		seen := c.recorder.calls.Load()
		if compare() {
			return true
		}
		for seen == c.recorder.calls.Load() {
			select {
			case <-tick.C:
			case <-deadline.C:
				return compare()
			case <-ctx.Done():
				return false
			}
		}
	}
}

// target says how a subject reaches the server. Credentials stay in the
// kubeconfig file.
type target struct {
	URL                 string // of the simulated server
	Kubeconfig, Context string // of a real one
	Namespace           string // "" for all
}

func (t target) config() (*rest.Config, error) {
	if t.Kubeconfig == "" {
		return &rest.Config{Host: t.URL}, nil
	}
	return loadKubeconfig(t.Kubeconfig, t.Context)
}
