package informer_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	pod   = *corev1.Pod
	event = informer.Event[pod]
)

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// onBothQueues runs a test in virtual time, once for each queue.
func onBothQueues(t *testing.T, test func(t *testing.T, queue informer.FactoryOption)) {
	for _, kind := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, informer.WithQueue(kind)) })
		})
	}
}

// podInformer makes a factory on the server and its pod informer.
func podInformer(t *testing.T, server *apisim.Server, opts ...informer.FactoryOption) (*informer.Factory, *informer.Informer[pod]) {
	t.Helper()
	opts = append(opts, informer.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	f := informer.NewFactory(server.Config(), opts...)
	pods, err := informer.For[pod](f)
	if err != nil {
		t.Fatal(err)
	}
	return f, pods
}

// ownPods is an informer that no factory made.
func ownPods(t *testing.T, server *apisim.Server) *informer.Informer[pod] {
	t.Helper()
	source, err := reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{})
	if err != nil {
		t.Fatal(err)
	}
	return informer.New(source, informer.Options[pod]{Name: "pods", Logger: slog.New(slog.DiscardHandler)})
}

// start runs the factory for the length of the test and waits until it has
// synced and all is quiet.
func start(t *testing.T, f *informer.Factory) {
	t.Helper()
	f.Start(t.Context())
	t.Cleanup(f.Shutdown)
	if err := f.WaitForCacheSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func newPod(namespace, name, phase string) pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPhase(phase)},
	}
}

func create(t *testing.T, server *apisim.Server, namespace, name string) pod {
	t.Helper()
	obj, err := server.Create(podsGVR, newPod(namespace, name, "Pending"))
	if err != nil {
		t.Fatal(err)
	}
	return obj.(pod)
}

func setPhase(t *testing.T, server *apisim.Server, namespace, name, phase string) pod {
	t.Helper()
	obj, err := server.Get(podsGVR, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	changed := obj.(pod).DeepCopy()
	changed.Status.Phase = corev1.PodPhase(phase)
	obj, err = server.Apply(podsGVR, changed)
	if err != nil {
		t.Fatal(err)
	}
	return obj.(pod)
}

func remove(t *testing.T, server *apisim.Server, namespace, name string) {
	t.Helper()
	if _, err := server.Delete(podsGVR, namespace, name); err != nil {
		t.Fatal(err)
	}
}

// recorder is a handler that keeps what it was told and checks H1, H2, H4 and
// H5 as it goes: each event must be a legal step from what it knows.
type recorder struct {
	t    *testing.T
	name string
	gate chan struct{} // if set, each call takes one token

	mu     sync.Mutex
	inCall bool
	events []event
	view   map[string]event
}

func newRecorder(t *testing.T, name string) *recorder {
	return &recorder{t: t, name: name, view: make(map[string]event)}
}

func (r *recorder) HandleEvent(e event) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	if r.inCall {
		r.t.Errorf("H4: %s: two calls at once", r.name)
	}
	r.inCall = true
	r.events = append(r.events, e)
	key := e.Key.String()
	last, known := r.view[key]
	switch e.Type {
	case informer.Added:
		if known {
			r.t.Errorf("H1: %s: %s added twice", r.name, key)
		}
		r.view[key] = e
	case informer.Updated:
		if !known || last.UID != e.UID || last.ResourceVersion != e.OldResourceVersion {
			r.t.Errorf("H1: %s: %s updated from %s (UID %s), but knew %+v", r.name, key, e.OldResourceVersion, e.UID, last)
		}
		if last.Initial && e.Initial && e.Source == informer.FromList {
			r.t.Errorf("H2: %s: %s is told twice in the initial list", r.name, key)
		}
		r.view[key] = e
	case informer.Deleted:
		if !known || last.UID != e.UID {
			r.t.Errorf("H5: %s: %s deleted (UID %s), but knew %+v", r.name, key, e.UID, last)
		}
		delete(r.view, key)
	}
	r.inCall = false
	r.mu.Unlock()
}

// take returns what was told since the last take.
func (r *recorder) take() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.events
	r.events = nil
	return out
}

// lines is take in a form to compare: "TYPE key source".
func (r *recorder) lines() []string {
	var out []string
	for _, e := range r.take() {
		out = append(out, fmt.Sprintf("%s %s %s", e.Type, e.Key, e.Source))
	}
	return out
}

func (r *recorder) wants(want ...string) {
	r.t.Helper()
	if got := r.lines(); !slices.Equal(got, want) {
		r.t.Errorf("%s was told\n  %q\nwant\n  %q", r.name, got, want)
	}
}

// checkCurrent holds the handler's view and the store against the server.
func (r *recorder) checkCurrent(server *apisim.Server, i *informer.Informer[pod]) {
	r.t.Helper()
	objects, _, err := server.List(podsGVR, "")
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.view) != len(objects) || i.Snapshot().Len() != len(objects) {
		r.t.Errorf("%s knows %d objects, the store %d, the server %d", r.name, len(r.view), i.Snapshot().Len(), len(objects))
	}
	for _, obj := range objects {
		want := obj.(pod)
		key := want.Namespace + "/" + want.Name
		if got := r.view[key]; got.ResourceVersion != want.ResourceVersion || got.UID != want.UID {
			r.t.Errorf("%s knows %s at %s, the server has %s", r.name, key, got.ResourceVersion, want.ResourceVersion)
		}
		if got, ok, err := i.GetIndexer().GetByKey(key); err != nil || !ok || got.ResourceVersion != want.ResourceVersion {
			r.t.Errorf("the store has %s: %v %v, the server has %s", key, ok, err, want.ResourceVersion)
		}
	}
}

func addHandler(t *testing.T, i *informer.Informer[pod], h informer.EventHandler[pod], opts ...informer.HandlerOption) *informer.Registration[pod] {
	t.Helper()
	r, err := i.AddEventHandler(h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func canceled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
