package pipeline

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/informer"
	"informer.example/realcluster/gate"
	"informer.example/reflector"
)

// follower is a subject of any T.
type follower interface {
	title() string
	of() schema.GroupVersionResource
	gate() *gate.Gate
	status() reflector.Status
	hasSynced() bool
	knows(map[string]version) bool
	take() (map[string][]string, map[informer.Source]int)
	checkCache(*testing.T)
	stop(*testing.T)
}

// fleet is every kind of subject in one namespace, and the writers there.
type fleet struct {
	t         *testing.T
	writers   []*writer
	followers []follower
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	namespace := makeNamespace(t)
	return &fleet{t: t, writers: []*writer{
		newWriter(t, podResource, namespace),
		newWriter(t, widgetResource, namespace),
	}}
}

// start runs the informers and waits until each handler has its first picture.
func (f *fleet) start() {
	f.t.Helper()
	f.write((*writer).awaitCache)
	namespace := f.writers[0].namespace
	for _, q := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
		f.followers = append(f.followers,
			follow(f.t, fmt.Sprintf("pods, protobuf, %v", q), namespace, settings[*corev1.Pod]{
				podResource, reflector.EncodingProtobuf, q, listPods("application/vnd.kubernetes.protobuf")}),
			follow(f.t, fmt.Sprintf("pods, JSON, %v", q), namespace, settings[*corev1.Pod]{
				podResource, reflector.EncodingJSON, q, listPods("application/json")}),
			follow(f.t, fmt.Sprintf("widgets, Unstructured, %v", q), namespace, settings[*unstructured.Unstructured]{
				widgetResource, reflector.EncodingAuto, q, listUnstructured}),
			follow(f.t, fmt.Sprintf("widgets, own struct, %v", q), namespace, settings[*widget]{
				widgetResource, reflector.EncodingAuto, q, listWidgets}),
		)
	}
	f.waitSynced()
}

func (f *fleet) waitSynced() {
	f.t.Helper()
	for _, s := range f.followers {
		eventually(f.t, s.title()+": sync", s.hasSynced, func() string { return fmt.Sprintf("%+v", s.status()) })
	}
}

// create makes n objects of each resource, named prefix-00, prefix-01, …
func (f *fleet) create(prefix string, n int) {
	f.t.Helper()
	f.write(func(w *writer) {
		for i := range n {
			w.create(fmt.Sprintf("%s-%02d", prefix, i))
		}
	})
}

// write has every writer do the same.
func (f *fleet) write(do func(*writer)) {
	f.t.Helper()
	for _, w := range f.writers {
		do(w)
	}
}

// states is what the server has, for each resource.
func (f *fleet) states() map[schema.GroupVersionResource]map[string]version {
	f.t.Helper()
	states := make(map[schema.GroupVersionResource]map[string]version)
	for _, w := range f.writers {
		states[w.resource] = w.state()
	}
	return states
}

// settle waits until every handler has been told what the server has now.
func (f *fleet) settle() {
	f.t.Helper()
	states := f.states()
	for _, s := range f.followers {
		eventually(f.t, s.title()+": the handler is told the server's state",
			func() bool { return s.knows(states[s.of()]) },
			func() string { return fmt.Sprintf("%+v", s.status()) })
	}
}

// checkTold compares what the handlers were told since the last look with what
// they must be told, all of it learned from one source.
func (f *fleet) checkTold(source informer.Source, want map[schema.GroupVersionResource]map[string][]string) {
	f.t.Helper()
	for _, s := range f.followers {
		told, sources := s.take()
		if diff := gocmp.Diff(want[s.of()], told); diff != "" {
			f.t.Errorf("%s: the handler was told something else (-want +told):\n%s", s.title(), diff)
		}
		for got, n := range sources {
			if got != source {
				f.t.Errorf("%s: %d events came from a %v, want all from a %v", s.title(), n, got, source)
			}
		}
	}
}

// written takes what the writers have written since the last call.
func (f *fleet) written() map[schema.GroupVersionResource]map[string][]string {
	all := make(map[schema.GroupVersionResource]map[string][]string)
	for _, w := range f.writers {
		all[w.resource] = w.take()
	}
	return all
}

func (f *fleet) checkCaches() {
	f.t.Helper()
	for _, s := range f.followers {
		s.checkCache(f.t)
	}
}

func (f *fleet) stop() {
	f.t.Helper()
	for _, s := range slices.Backward(f.followers) {
		s.stop(f.t)
	}
}
