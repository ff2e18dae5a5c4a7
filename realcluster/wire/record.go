package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"informer.example/realcluster"
)

// Record fills the cluster with objects and records its answers. The cluster must
// be fresh and have WidgetCRD; it is restarted and its etcd compacted on the way.
func Record(ctx context.Context, cluster *realcluster.Cluster) (Index, error) {
	s, err := newSession(cluster)
	if err != nil {
		return Index{}, err
	}
	version, err := s.kube.Discovery().ServerVersion()
	if err != nil {
		return Index{}, fmt.Errorf("record: ask the server for its version: %w", err)
	}
	if err := makePods(ctx, s.kube); err != nil {
		return Index{}, err
	}
	if err := makeWidgets(ctx, s.dynamic); err != nil {
		return Index{}, err
	}
	for _, part := range []func(context.Context) error{s.lists, s.refusals, s.watches, s.expired} {
		if err := part(ctx); err != nil {
			return Index{}, err
		}
	}
	return Index{Server: version.GitVersion, Exchanges: s.out}, nil
}

// session is one recording under way. Its methods run one after another.
type session struct {
	cluster *realcluster.Cluster
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	admin   *recorder
	nobody  *recorder // known to the server, and allowed nothing
	unknown *recorder // shows no certificate
	out     []Exchange
}

func newSession(cluster *realcluster.Cluster) (*session, error) {
	s := &session{cluster: cluster}
	config := cluster.Config()
	var err error
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for recording: %w", err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for recording: %w", err)
	}
	if s.admin, err = newRecorder(config); err != nil {
		return nil, err
	}
	nobody, err := cluster.AddUser("nobody")
	if err != nil {
		return nil, err
	}
	if s.nobody, err = newRecorder(nobody); err != nil {
		return nil, err
	}
	config.CertData, config.KeyData = nil, nil
	if s.unknown, err = newRecorder(config); err != nil {
		return nil, err
	}
	return s, nil
}

// add makes the calls at the same time and keeps their answers in order.
func (s *session) add(ctx context.Context, r *recorder, calls ...call) error {
	return s.during(ctx, r, calls, func() error { return nil })
}

// during makes the calls, runs script when all of them have started, and keeps the
// answers in order when all have ended.
func (s *session) during(ctx context.Context, r *recorder, calls []call, script func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make([]Exchange, len(calls))
	errs := make([]error, len(calls))
	started := make([]chan struct{}, len(calls))
	var ended sync.WaitGroup
	for i, c := range calls {
		started[i] = make(chan struct{})
		c.started = started[i]
		ended.Go(func() {
			answers[i], errs[i] = r.do(ctx, c)
			if errs[i] != nil {
				cancel() // the others would wait for a script that does not come
			}
		})
	}
	var err error
	for _, ch := range started {
		select {
		case <-ch:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err == nil {
		err = script()
	}
	if err != nil {
		cancel()
	}
	ended.Wait()
	for _, e := range errs {
		if e != nil && err == nil {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("record: %w", firstCause(errs, err))
	}
	s.out = append(s.out, answers...)
	return nil
}

// firstCause prefers an error that is not the consequence of our own cancel.
func firstCause(errs []error, err error) error {
	for _, e := range errs {
		if e != nil && !errors.Is(e, context.Canceled) {
			return e
		}
	}
	return err
}

// find returns the answer recorded as name.
func (s *session) find(name string) (Exchange, error) {
	for _, e := range s.out {
		if e.Name == name {
			return e, nil
		}
	}
	return Exchange{}, fmt.Errorf("record: no exchange is called %s", name)
}

// watchSeconds is long enough for the script, and for the bookmark that the server
// sends two seconds before the end.
const watchSeconds = 8
