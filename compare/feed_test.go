package compare

import (
	"context"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// feed is a server without a wire: a list of pods, then events off a channel.
// It is what both informers read from when decoding is not what is measured.
// Both take each event off the same channel, as client-go's watch.Interface
// wants it; a stream of ours could do without, so this costs ours what it need
// not cost.
type feed struct {
	list   []*corev1.Pod
	events chan watch.Event
	rv     string // of the list
}

func newFeed(list []*corev1.Pod) *feed {
	return &feed{list: list, events: make(chan watch.Event, 1024), rv: strconv.Itoa(feedVersion)}
}

func (f *feed) send(p *corev1.Pod) { f.events <- watch.Event{Type: watch.Modified, Object: p} }

// feedVersion is above those of all listed pods, and below those of all events.
const feedVersion = 10_000_000

// feedPods are such as a cluster has: few namespaces, long common prefixes, one
// address each and 200 to a node.
func feedPods(n int) []*corev1.Pod {
	list := make([]*corev1.Pod, n)
	for i := range list {
		list[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprintf("team-%02d-production", i%40),
				Name:            fmt.Sprintf("web-frontend-%d-%08x-%05x", i%400, i*2654435761%(1<<32), i),
				UID:             types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", i)),
				ResourceVersion: strconv.Itoa(1000 + i),
				Labels:          map[string]string{"app": fmt.Sprintf("app-%03d", i%100), "tier": []string{"web", "db"}[i%2]},
			},
			Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%04d", i/200)},
			Status: corev1.PodStatus{PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Phase: corev1.PodRunning},
		}
	}
	return list
}

// updater makes new versions of pods, in an order that skips about.
type updater struct {
	list    []*corev1.Pod
	version int
}

// next is n events; all but their version is as before.
func (u *updater) next(n int) []*corev1.Pod {
	out := make([]*corev1.Pod, n)
	for i := range out {
		u.version++
		p := *u.list[u.version*7919%len(u.list)]
		p.ResourceVersion = strconv.Itoa(feedVersion + u.version)
		out[i] = &p
	}
	return out
}

// ourFeed reads a feed as a Source.
type ourFeed struct{ *feed }

func (f ourFeed) List(_ context.Context, _ reflector.ListOptions, yield func(object.Item[*corev1.Pod]) error) (reflector.ListMeta, error) {
	for _, p := range f.list {
		item, err := object.NewItem(p, nil)
		if err == nil {
			err = yield(item)
		}
		if err != nil {
			return reflector.ListMeta{}, err
		}
	}
	return reflector.ListMeta{ResourceVersion: f.rv}, nil
}

func (f ourFeed) Watch(ctx context.Context, _ reflector.WatchOptions) (reflector.Stream[*corev1.Pod], error) {
	ctx, cancel := context.WithCancel(ctx)
	return &ourFeedStream{f.feed, ctx, cancel}, nil
}

type ourFeedStream struct {
	*feed
	ctx    context.Context // ends with Close
	cancel func()
}

func (s *ourFeedStream) Next() (reflector.Event[*corev1.Pod], error) {
	select {
	case e := <-s.events:
		item, err := object.NewItem(e.Object.(*corev1.Pod), nil)
		return reflector.Event[*corev1.Pod]{Type: reflector.Modified, Item: item}, err
	case <-s.ctx.Done():
		return reflector.Event[*corev1.Pod]{}, io.ErrUnexpectedEOF
	}
}

func (s *ourFeedStream) Close() error { s.cancel(); return nil }

// theirFeed reads a feed as a ListerWatcher.
type theirFeed struct{ *feed }

// IsWatchListSemanticsUnSupported makes client-go list first, as ours does here.
func (f theirFeed) IsWatchListSemanticsUnSupported() bool { return true }

func (f theirFeed) List(metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: f.rv}, Items: make([]corev1.Pod, len(f.list))}
	for i, p := range f.list {
		list.Items[i] = *p
	}
	return list, nil
}

func (f theirFeed) Watch(metav1.ListOptions) (watch.Interface, error) {
	return theirFeedWatch(f), nil
}

// theirFeedWatch needs no end of its own: the reflector stops by itself.
type theirFeedWatch struct{ *feed }

func (theirFeedWatch) Stop()                            {}
func (w theirFeedWatch) ResultChan() <-chan watch.Event { return w.events }

// pipeline is an informer that reads from a feed: all from the reflector to the
// handlers, with an index by namespace, by address and by node.
type pipeline interface {
	// addHandler registers a handler. old is nil for what is added.
	addHandler(tb testing.TB, tell func(old, pod *corev1.Pod)) (hasSynced func() bool)
	stored() []*corev1.Pod // in any order
	stop()                 // returns when Run has
}

var pipelines = []struct {
	impl  string
	start func(testing.TB, *feed) pipeline
}{
	{"ours", startOurPipeline},
	{"clientgo", startTheirPipeline},
}

type ourPipeline struct {
	*informer.Informer[*corev1.Pod]
	end func()
}

func startOurPipeline(tb testing.TB, f *feed) pipeline {
	inf := informer.New(ourFeed{f}, informer.Options[*corev1.Pod]{Reflector: reflector.Options{WatchList: reflector.WatchListNever}, Indexers: indexer.Indexers[*corev1.Pod]{
		"namespace": indexer.SimpleIndex(func(p *corev1.Pod) string { return p.Namespace }),
		"ip":        indexer.SimpleIndex(func(p *corev1.Pod) string { return p.Status.PodIP }),
		"node":      indexer.SimpleIndex(func(p *corev1.Pod) string { return p.Spec.NodeName }),
	}})
	p := &ourPipeline{inf, running(inf.Run)}
	if err := inf.WaitForSync(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return p
}

func (p *ourPipeline) addHandler(tb testing.TB, tell func(old, pod *corev1.Pod)) func() bool {
	r, err := p.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod) { tell(nil, pod) },
		UpdateFunc: tell,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r.HasSynced
}

func (p *ourPipeline) stored() []*corev1.Pod { return p.GetIndexer().List() }
func (p *ourPipeline) stop()                 { p.end() }

type theirPipeline struct {
	cache.SharedIndexInformer
	end func()
}

func startTheirPipeline(tb testing.TB, f *feed) pipeline {
	inf := cache.NewSharedIndexInformer(theirFeed{f}, &corev1.Pod{}, 0, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"ip":                 func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Status.PodIP}, nil },
		"node":               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	})
	p := &theirPipeline{inf, running(func(ctx context.Context) error { inf.RunWithContext(ctx); return nil })}
	if !cache.WaitForCacheSync(tb.Context().Done(), inf.HasSynced) {
		tb.Fatal("client-go's informer has not synced")
	}
	return p
}

func (p *theirPipeline) addHandler(tb testing.TB, tell func(old, pod *corev1.Pod)) func() bool {
	r, err := p.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { tell(nil, obj.(*corev1.Pod)) },
		UpdateFunc: func(old, obj any) { tell(old.(*corev1.Pod), obj.(*corev1.Pod)) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r.HasSynced
}

func (p *theirPipeline) stored() []*corev1.Pod {
	var out []*corev1.Pod
	for _, obj := range p.GetStore().List() {
		out = append(out, obj.(*corev1.Pod))
	}
	return out
}

func (p *theirPipeline) stop() { p.end() }

// running starts run, and returns what ends it and waits.
func running(run func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = run(ctx)
	}()
	return func() { cancel(); <-done }
}

// mustHold fails unless a pipeline's store holds exactly the newest version of
// each pod.
func mustHold(tb testing.TB, p pipeline, list, events []*corev1.Pod) {
	tb.Helper()
	want := make(map[types.UID]string, len(list))
	for _, pod := range slices.Concat(list, events) {
		want[pod.UID] = pod.ResourceVersion
	}
	got := p.stored()
	if len(got) != len(want) {
		tb.Fatalf("the store holds %d pods, want %d", len(got), len(want))
	}
	for _, pod := range got {
		if want[pod.UID] != pod.ResourceVersion {
			tb.Fatalf("the store holds %s at version %s, want %s", pod.Name, pod.ResourceVersion, want[pod.UID])
		}
	}
}

// until spins until a condition holds: it is for what both subjects offer no
// other way to wait for.
func until(cond func() bool) {
	for !cond() {
		goruntime.Gosched()
	}
}
