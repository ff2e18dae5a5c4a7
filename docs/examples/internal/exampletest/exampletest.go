// Package exampletest runs an example program on a simulated server, and
// collects what it prints. Use it inside a testing/synctest bubble.
package exampletest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"informer.example/apisim"
	"informer.example/docs/examples/internal/example"
)

// Server is a simulated API server with four pods to begin with:
//
//	data/db-0       node-2   10.0.2.1   Running
//	default/web-0   node-1   10.0.1.1   Running
//	default/web-1   node-2   10.0.2.2   Running
//	default/web-2   none     none       Pending
type Server struct {
	*apisim.Server
	t *testing.T
}

// NewServer makes a server. It ends with the bubble.
func NewServer(t *testing.T) *Server {
	s := &Server{apisim.New(), t}
	s.Put(Pod("data", "db-0", "node-2", "10.0.2.1", corev1.PodRunning))
	s.Put(Pod("default", "web-0", "node-1", "10.0.1.1", corev1.PodRunning))
	s.Put(Pod("default", "web-1", "node-2", "10.0.2.2", corev1.PodRunning))
	s.Put(Pod("default", "web-2", "", "", corev1.PodPending))
	return s
}

// Pod makes a small pod, with an image named by what stands before the last
// dash of its name. Empty parts are left out.
func Pod(namespace, name, node, ip string, phase corev1.PodPhase) *corev1.Pod {
	image := "registry.example/" + name[:max(strings.LastIndex(name, "-"), 0)] + ":1"
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: image}}},
		Status:     corev1.PodStatus{Phase: phase, PodIP: ip},
	}
	if ip != "" {
		p.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	}
	return p
}

// Put creates or replaces a pod.
func (s *Server) Put(pod *corev1.Pod) {
	s.t.Helper()
	s.must(s.Apply(apisim.Pods().GVR, pod))
}

// Remove deletes a pod.
func (s *Server) Remove(namespace, name string) {
	s.t.Helper()
	s.must(s.Delete(apisim.Pods().GVR, namespace, name))
}

// RemoveAll deletes all pods.
func (s *Server) RemoveAll() {
	s.t.Helper()
	pods, _, err := s.List(apisim.Pods().GVR, "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range pods {
		pod := p.(*corev1.Pod)
		s.Remove(pod.Namespace, pod.Name)
	}
}

func (s *Server) must(_ runtime.Object, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Running is a program that runs.
type Running struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
	out    output
}

// Start runs the program and waits until it has nothing more to do for now.
func (s *Server) Start(run example.Program) *Running {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r := &Running{t: s.t, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- run(ctx, s.Config(), &r.out) }()
	synctest.Wait()
	return r
}

// Expect waits until the program has nothing more to do for now, and compares
// the lines printed since the last Expect.
func (r *Running) Expect(want ...string) {
	r.t.Helper()
	r.compare(want, r.Lines())
}

// Lines is Expect for output that can't be foretold word by word: it returns it.
func (r *Running) Lines() []string {
	synctest.Wait()
	return r.out.take()
}

// ExpectInAnyOrder is Expect for lines that several goroutines print.
func (r *Running) ExpectInAnyOrder(want ...string) {
	r.t.Helper()
	got := r.Lines()
	slices.Sort(got)
	slices.Sort(want)
	r.compare(want, got)
}

func (r *Running) compare(want, got []string) {
	r.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		r.t.Errorf("output (-want +got)\n%s", d)
	}
}

// Done fails the test unless the program has ended by itself, without an error.
func (r *Running) Done() {
	r.t.Helper()
	synctest.Wait()
	defer r.cancel()
	select {
	case err := <-r.done:
		if err != nil {
			r.t.Errorf("the program: %v", err)
		}
	default:
		r.t.Error("the program has not ended")
		r.cancel()
		<-r.done
	}
}

// Stop ends the program's context and fails the test unless the program then
// ends without an error.
func (r *Running) Stop() {
	r.t.Helper()
	r.cancel()
	if err := <-r.done; err != nil {
		r.t.Errorf("the program: %v", err)
	}
}

// Fails waits for the program's end and returns its error. It fails the test
// if there is none.
func (r *Running) Fails() error {
	r.t.Helper()
	r.cancel()
	err := <-r.done
	if err == nil {
		r.t.Error("the program ended without an error")
	}
	return err
}

// output is what a program prints; safe for several goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// take returns the lines since the last take.
func (o *output) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := strings.TrimSuffix(o.buf.String(), "\n")
	o.buf.Reset()
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
