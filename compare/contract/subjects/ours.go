package subjects

import (
	"context"
	"log/slog"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"informer.example/compare/contract"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/reflector"
)

// InOrder is this module's informer.
func InOrder() contract.Implementation {
	return contract.Implementation{
		Name: "ours",
		New:  func(c contract.Config) (contract.Subject, error) { return newOurs(c, informer.InOrder) },
	}
}

// DeltaFIFO is this module's informer on the classic queue.
func DeltaFIFO() contract.Implementation {
	return contract.Implementation{
		Name: "ours, DeltaFIFO",
		New:  func(c contract.Config) (contract.Subject, error) { return newOurs(c, informer.DeltaFIFO) },
		Differs: map[string]string{
			"order-keys": "The classic queue groups events by key while they wait.",
		},
	}
}

type ours struct {
	informer *informer.Informer[*corev1.Pod]
	survive  bool
}

func newSource(c contract.Config) (*reflector.HTTPSource[*corev1.Pod], error) {
	return reflector.NewHTTPSource(c.REST, corev1.SchemeGroupVersion.WithResource("pods"), reflector.SourceOptions[*corev1.Pod]{
		Namespace: c.Namespace, LabelSelector: c.LabelSelector, Transform: c.Transform, Encoding: reflector.EncodingJSON,
	})
}

func newOurs(c contract.Config, queue informer.QueueKind) (contract.Subject, error) {
	source, err := newSource(c)
	if err != nil {
		return nil, err
	}
	return &ours{survive: c.SurvivePanics, informer: informer.New(source, informer.Options[*corev1.Pod]{
		Queue: queue, Resync: c.Resync, Indexers: indexers(c.Indexers),
		Reflector: reflector.Options{Rand: rand.New(rand.NewPCG(1, 2)).Float64}, // one run is like the other
		Logger:    slog.New(slog.DiscardHandler),
	})}, nil
}

func indexers(in map[string]contract.IndexFunc) indexer.Indexers[*corev1.Pod] {
	out := make(indexer.Indexers[*corev1.Pod])
	for name, f := range in {
		out[name] = indexer.IndexFunc[*corev1.Pod](f)
	}
	return out
}

func (o *ours) Run(ctx context.Context) error         { return o.informer.Run(ctx) }
func (o *ours) HasSynced() bool                       { return o.informer.HasSynced() }
func (o *ours) List() []*corev1.Pod                   { return o.informer.GetIndexer().List() }
func (o *ours) LastError() error                      { return o.informer.Status().LastError }
func (o *ours) Refused() int                          { return o.informer.Status().Quarantined }
func (o *ours) ResourceVersion() string               { return o.informer.Status().StoreVersion }
func (o *ours) WaitForSync(ctx context.Context) error { return o.informer.WaitForSync(ctx) }

func (o *ours) Get(key string) (*corev1.Pod, bool) {
	pod, ok, err := o.informer.GetIndexer().GetByKey(key)
	return pod, ok && err == nil
}

func (o *ours) ByIndex(name, value string) ([]*corev1.Pod, error) {
	return o.informer.GetIndexer().ByIndex(name, value)
}

func (o *ours) AddIndexers(in map[string]contract.IndexFunc) error {
	return o.informer.AddIndexers(indexers(in))
}

func (o *ours) AddHandler(h contract.Handler) (contract.Registration, error) {
	var opts []informer.HandlerOption
	if o.survive {
		opts = append(opts, informer.WithPanicPolicy(informer.IsolatePanics))
	}
	r, err := o.informer.AddEventHandler(telling(h), opts...)
	if err != nil {
		return nil, err
	}
	return oursRegistration{o.informer, r}, nil
}

type oursRegistration struct {
	informer *informer.Informer[*corev1.Pod]
	r        *informer.Registration[*corev1.Pod]
}

func (r oursRegistration) HasSynced() bool { return r.r.HasSynced() }
func (r oursRegistration) Remove() error   { return r.informer.ShutDownEventHandler(r.r) }

// telling is the handler of ours and naive.
func telling(h contract.Handler) informer.EventHandler[*corev1.Pod] {
	return informer.HandlerFunc[*corev1.Pod](func(e informer.Event[*corev1.Pod]) {
		switch e.Type {
		case informer.Added:
			h.OnAdd(e.New, e.Initial)
		case informer.Updated:
			h.OnUpdate(e.Old, e.New)
		case informer.Deleted:
			h.OnDelete(e.Old, e.FinalStateKnown)
		}
	})
}
