package subjects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/compare/contract"
	"informer.example/informer"
	"informer.example/naive"
)

// pollEvery is the interval of the polling subject.
const pollEvery = 5 * time.Second

// Naive polls and compares.
func Naive() contract.Implementation {
	return contract.Implementation{
		Name: "naive polling",
		New:  newNaive,
		Lacks: map[contract.Capability]string{
			contract.Watch:        "It lists every five seconds, and sees states instead of changes.",
			contract.ManyHandlers: "A poller has one handler, from its start to its end.",
			contract.Indexes:      "A poller keeps a map by key and no index.",
			contract.Resyncs:      "A poller doesn't replay its state.",
			contract.Panics:       "A panic of the handler ends the poller with it.",
			contract.Explains:     "A poller has counters, and no wait that says why it hasn't synced.",
			contract.Versions:     "A poller doesn't say which version its state is.",
		},
		Differs: map[string]string{
			"sync-store-alone": "A poller has synced when its one handler has been told the first list.",
			"list-repeated":    "It takes each item of a list as it comes, and the last one counts.",
		},
	}
}

// naiveSubject gets its handler before Run, since a poller is made with it.
type naiveSubject struct {
	poller *naive.Poller[*corev1.Pod]

	mu      sync.Mutex
	handler contract.Handler
	started bool
}

func newNaive(c contract.Config) (contract.Subject, error) {
	if len(c.Indexers) > 0 || c.Resync > 0 || c.SurvivePanics {
		return nil, fmt.Errorf("a poller has no indexes, resyncs or survived panics: %w", errors.ErrUnsupported)
	}
	source, err := newSource(c)
	if err != nil {
		return nil, err
	}
	n := &naiveSubject{}
	n.poller = naive.NewPoller(source, informer.HandlerFunc[*corev1.Pod](func(e informer.Event[*corev1.Pod]) {
		telling(n.handler).HandleEvent(e) // set before Run
	}), naive.Options{Interval: pollEvery})
	return n, nil
}

func (n *naiveSubject) Run(ctx context.Context) error {
	n.mu.Lock()
	n.started = true
	n.mu.Unlock()
	return n.poller.Run(ctx)
}

func (n *naiveSubject) HasSynced() bool     { return n.poller.HasSynced() }
func (n *naiveSubject) List() []*corev1.Pod { return n.poller.List() }

func (n *naiveSubject) Get(key string) (*corev1.Pod, bool) {
	pod, ok, err := n.poller.GetByKey(key)
	return pod, ok && err == nil
}

func (n *naiveSubject) AddHandler(h contract.Handler) (contract.Registration, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.handler != nil || n.started {
		return nil, fmt.Errorf("a poller has one handler, from its start on: %w", errors.ErrUnsupported)
	}
	n.handler = h
	return naiveRegistration{n.poller}, nil
}

type naiveRegistration struct{ poller *naive.Poller[*corev1.Pod] }

func (r naiveRegistration) HasSynced() bool { return r.poller.HasSynced() }
func (r naiveRegistration) Remove() error   { return errors.ErrUnsupported }
