package scenario

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/apisim"
	"informer.example/compare/invariant"
	"informer.example/informer"
	"informer.example/reflector"
)

var (
	pods    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	widgets = apisim.Resource{
		GVR:  schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind: "Widget", Namespaced: true,
	}
)

func (r *runner) resource() schema.GroupVersionResource {
	if r.scenario.server.widgets {
		return widgets.GVR
	}
	return pods
}

// subject is an informer of any type.
type subject interface {
	run(ctx context.Context) error
	synced() bool
	status() informer.Status
	look(c *invariant.Checker)
	state() invariant.State
}

type typed[T metav1.Object] struct{ i *informer.Informer[T] }

func (s typed[T]) run(ctx context.Context) error { return s.i.Run(ctx) }
func (s typed[T]) synced() bool                  { return s.i.HasSynced() }
func (s typed[T]) status() informer.Status       { return s.i.Status() }
func (s typed[T]) look(c *invariant.Checker)     { invariant.Look(c, s.i) }
func (s typed[T]) state() invariant.State {
	_, state := invariant.StateOf(s.i)
	return state
}

func (r *runner) newSubject(cfg *rest.Config) (subject, error) {
	if r.scenario.server.widgets {
		return subjectOf[*unstructured.Unstructured](r, cfg)
	}
	return subjectOf[*corev1.Pod](r, cfg)
}

func subjectOf[T metav1.Object](r *runner, cfg *rest.Config) (subject, error) {
	encoding := r.setup.Encoding
	if r.scenario.server.widgets {
		encoding = reflector.EncodingJSON // custom resources have no other
	}
	o := r.scenario.client
	source, err := reflector.NewHTTPSource(cfg, r.resource(), reflector.SourceOptions[T]{
		LabelSelector: o.selector, Shard: o.shard, Encoding: encoding,
	})
	if err != nil {
		return nil, err
	}
	opts := reflector.Options{
		PageSize: o.page, WatchTimeoutMin: o.watchTimeout, WatchTimeoutMax: o.watchTimeout,
		VerifyEvery: o.verify, IdleTimeout: o.idle, PollInterval: o.polling,
		Rand: rand.New(rand.NewPCG(1, 2)).Float64, // one run is like the other
	}
	if o.lists {
		opts.WatchList = reflector.WatchListNever
	}
	i := informer.New(source, informer.Options[T]{
		Queue: r.setup.Queue, Reflector: opts, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if _, err := invariant.Attach(r.checker, i); err != nil {
		return nil, err
	}
	_, err = i.AddEventHandler(informer.HandlerFunc[T](func(e informer.Event[T]) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, count{e.Type, e.Initial})
	}), informer.WithHandlerResync(0))
	return typed[T]{i}, err
}
