package reflector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
)

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// running is a reflector on a simulated server, in a bubble.
type running[T metav1.Object] struct {
	t      *testing.T
	server *apisim.Server
	sink   *recorder[T]
	*Reflector[T]
	done chan error
	stop context.CancelFunc
}

func start[T metav1.Object](t *testing.T, server *apisim.Server, gvr schema.GroupVersionResource, so SourceOptions[T], o Options) *running[T] {
	t.Helper()
	src, err := NewHTTPSource(server.Config(), gvr, so)
	if err != nil {
		t.Fatal(err)
	}
	return startSource(t, server, src, o)
}

func startSource[T metav1.Object](t *testing.T, server *apisim.Server, src Source[T], o Options) *running[T] {
	if o.Rand == nil {
		o.Rand = func() float64 { return 0.5 }
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running[T]{t: t, server: server, sink: newRecorder[T](), done: make(chan error, 1), stop: stop}
	r.Reflector = New(src, r.sink, o)
	go func() { r.done <- r.Run(ctx) }()
	synctest.Wait()
	return r
}

// end stops the run and makes sure that it ends well and in no time.
func (r *running[T]) end() {
	r.t.Helper()
	before := time.Now()
	r.stop()
	if err := <-r.done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if took := time.Since(before); took != 0 {
		r.t.Errorf("Run took %v to end", took)
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func TestSmoke(t *testing.T) {
	for _, enc := range []Encoding{EncodingJSON, EncodingProtobuf, EncodingAuto} {
		synctest.Test(t, func(t *testing.T) {
			s := apisim.New()
			if err := s.Fill(1200); err != nil {
				t.Fatal(err)
			}
			r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{})
			s.Create(podsGVR, pod("a"))
			s.Delete(podsGVR, "default", "a")
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			for _, l := range r.sink.log() {
				t.Log(l)
			}
			t.Logf("%+v", r.Status())
			r.end()
		})
	}
}
