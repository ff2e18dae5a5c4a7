package subjects

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"informer.example/compare/contract"
)

// ClientGo is client-go's shared informer at its default feature gates.
func ClientGo() contract.Implementation {
	withoutPause()
	defaults := clientGoDiffers()
	defaults["initial-order"] = "It gathers a watch-list in a map, and tells it in the map's order."
	defaults["stop-waiting"] = "Its wait before it asks again for a watch-list that was refused with 429 doesn't heed the stop."
	defaults["transform-once"] = "It transforms the objects of a watch-list when it gathers them, and again when it queues them."
	defaults["watchlist-unknown"] = "It doesn't remember that a server has refused a watch-list."
	defaults["watchlist-pace"] = "A watch-list that ends cleanly behind its first event is opened again without a wait."
	return contract.Implementation{
		Name:    "client-go",
		New:     func(c contract.Config) (contract.Subject, error) { return newClientGo(c, true) },
		Differs: defaults,
	}
}

// ClientGoLists is client-go's shared informer with the feature gate
// WatchListClient off. Instead of the gate, which is the process's, the client is
// said not to support watch-lists.
func ClientGoLists() contract.Implementation {
	withoutPause()
	lists := clientGoDiffers()
	lists["transform-error"] = "One object whose transform fails is a failure of the whole list, which is asked for again and again."
	return contract.Implementation{
		Name:    "client-go, lists",
		New:     func(c contract.Config) (contract.Subject, error) { return newClientGo(c, false) },
		Differs: lists,
	}
}

// withoutPause takes out the pause that client-go makes after each error it
// logs. It reckons by a clock that it has set when the process began, so in
// virtual time, which begins in 2000, the first pause would last for decades.
func withoutPause() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the first one logs
}

// clientGoDiffers is what both differ in.
func clientGoDiffers() map[string]string {
	return map[string]string{
		"sync-why":             "Its wait says whether it has synced, and not why; the errors go to a handler that must be set.",
		"delete-resumed":       "A watch that can't be opened makes it list anew, unless the connection was refused or the answer was 429.",
		"delete-unknown":       "Its queue passes every deletion on, and nobody asks whether the object was known.",
		"recreate-missed":      "It compares a new list with its store by key alone, so another UID is an update.",
		"relist-silent":        "Without a resync period it tells every object of a new list, as an update from itself.",
		"list-order":           "Its store is a map.",
		"resume-short":         "It takes a watch that ends empty within a second for broken, and lists anew.",
		"transform-error-seen": "It logs the error and counts nothing.",
		"index-order":          "Its index is a set of keys.",
		"index-once":           "It doesn't keep an index's values: it calls the function again for the state that a change takes out.",
		"index-error":          "An error of an index function is a panic in its apply loop. The process ends, or, if panics are survived, the changes in hand are lost.",
		"index-panic":          "The process ends, or, if panics are survived, the changes in hand are lost.",
		"panic-sync":           "A call that panics is never counted as returned, so its handler never syncs.",
		"watch-internal":       "An error that ends a stream makes it list anew, unless it is 429.",
		"watch-unavailable":    "A watch that can't be opened makes it list anew, unless the connection was refused or the answer was 429.",
		"watch-replayed":       "It takes each event for newer than those before, whatever its version.",
		"watch-silent":         "It waits for the server to end a watch, and has no time limit of its own.",
		"list-repeated":        "It takes each item of a list as it comes, and the last one counts.",
		"list-unreadable":      "It decodes a list as a whole, so one bad object fails all of it.",
		"run-once":             "A second Run logs a warning and returns no error.",
	}
}

type clientGo struct {
	informer cache.SharedIndexInformer
	survive  bool

	mu   sync.Mutex
	last error
}

// noWatchList says in client-go's way that a client has no watch-list.
type noWatchList struct{}

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

func newClientGo(c contract.Config, watchList bool) (contract.Subject, error) {
	clientset, err := kubernetes.NewForConfig(c.REST)
	if err != nil {
		return nil, err
	}
	api := clientset.CoreV1().Pods(c.Namespace)
	var client any = clientset
	if !watchList {
		client = noWatchList{}
	}
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = c.LabelSelector
			return api.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = c.LabelSelector
			return api.Watch(ctx, o)
		},
	}, client)
	g := &clientGo{survive: c.SurvivePanics}
	g.informer = cache.NewSharedIndexInformer(lw, &corev1.Pod{}, c.Resync, clientGoIndexers(c.Indexers))
	if err := g.informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.last = err
	}); err != nil {
		return nil, err
	}
	if c.Transform != nil {
		if err := g.informer.SetTransform(func(obj any) (any, error) {
			pod, ok := obj.(*corev1.Pod)
			if !ok {
				return obj, nil // a tombstone
			}
			return c.Transform(pod)
		}); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func clientGoIndexers(in map[string]contract.IndexFunc) cache.Indexers {
	out := make(cache.Indexers)
	for name, f := range in {
		out[name] = func(obj any) ([]string, error) { return f(obj.(*corev1.Pod)) }
	}
	return out
}

// Run runs it. That panics are survived is a setting of the process; the clauses
// run one after the other.
func (g *clientGo) Run(ctx context.Context) error {
	if g.survive {
		before := utilruntime.ReallyCrash
		utilruntime.ReallyCrash = false
		defer func() { utilruntime.ReallyCrash = before }()
	}
	g.informer.RunWithContext(ctx)
	return nil
}

func (g *clientGo) HasSynced() bool { return g.informer.HasSynced() }

func (g *clientGo) List() []*corev1.Pod {
	objects := g.informer.GetStore().List()
	pods := make([]*corev1.Pod, len(objects))
	for i, obj := range objects {
		pods[i] = obj.(*corev1.Pod)
	}
	return pods
}

func (g *clientGo) Get(key string) (*corev1.Pod, bool) {
	obj, ok, err := g.informer.GetStore().GetByKey(key)
	if !ok || err != nil {
		return nil, false
	}
	return obj.(*corev1.Pod), true
}

func (g *clientGo) ByIndex(name, value string) ([]*corev1.Pod, error) {
	objects, err := g.informer.GetIndexer().ByIndex(name, value)
	pods := make([]*corev1.Pod, len(objects))
	for i, obj := range objects {
		pods[i], _ = obj.(*corev1.Pod)
	}
	return pods, err
}

func (g *clientGo) AddIndexers(in map[string]contract.IndexFunc) error {
	return g.informer.AddIndexers(clientGoIndexers(in))
}

func (g *clientGo) ResourceVersion() string {
	return g.informer.GetStore().LastStoreSyncResourceVersion()
}

// Refused is what client-go offers: it logs them.
func (g *clientGo) Refused() int { return 0 }

func (g *clientGo) LastError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// WaitForSync is what client-go offers: whether, and not why.
func (g *clientGo) WaitForSync(ctx context.Context) error {
	for !g.informer.HasSynced() {
		select {
		case <-ctx.Done():
			return errors.New("not synced")
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func (g *clientGo) AddHandler(h contract.Handler) (contract.Registration, error) {
	r, err := g.informer.AddEventHandler(clientGoHandler{h})
	if err != nil {
		return nil, err
	}
	return clientGoRegistration{g.informer, r}, nil
}

type clientGoRegistration struct {
	informer cache.SharedIndexInformer
	r        cache.ResourceEventHandlerRegistration
}

func (r clientGoRegistration) HasSynced() bool { return r.r.HasSynced() }

// Remove waits, as ShutDownEventHandler does.
func (r clientGoRegistration) Remove() error {
	return cache.ShutDownEventHandler(r.informer, r.r)
}

type clientGoHandler struct{ h contract.Handler }

func (c clientGoHandler) OnAdd(obj any, initial bool) { c.h.OnAdd(obj.(*corev1.Pod), initial) }

func (c clientGoHandler) OnUpdate(old, obj any) { c.h.OnUpdate(old.(*corev1.Pod), obj.(*corev1.Pod)) }

func (c clientGoHandler) OnDelete(obj any) {
	final := true
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj, final = tombstone.Obj, false
	}
	c.h.OnDelete(obj.(*corev1.Pod), final)
}
