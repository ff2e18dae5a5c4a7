package informer

import (
	"log/slog"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/indexer"
	"informer.example/object"
	"informer.example/reflector"
)

// untracedSteps are the places with hooks, without any.
func untracedSteps(trace *Trace) map[string]func() {
	store := indexer.New[partial](nil)
	i := &Informer[partial]{core: &core[partial]{store: store, hub: newHub(store, "pods", slog.New(slog.DiscardHandler), trace)}}
	p := &part[partial]{whole: true, queue: deltafifo.NewInOrder(deltafifo.Options[partial]{})}
	to := sink[partial]{informer: i, part: p}
	r := newRegistration(i.hub, HandlerFunc[partial](func(Event[partial]) {}), handlerOptions{name: "h"})
	item := &object.Item[partial]{Key: object.Key{Name: "a"}, ResourceVersion: "1", Object: &metav1.PartialObjectMetadata{}}
	event := Event[partial]{Type: Added, Key: item.Key, New: item.Object}
	s := &segment[partial]{seq: 1}
	list := []object.Item[partial]{*item}
	return map[string]func(){
		"call":            func() { r.call(event, item, 1) },
		"commit":          func() { i.traceCommit("", i.traceStart(), s) },
		"queueing":        func() { to.traceQueueing(reflector.Added, item) },
		"queueing a list": func() { to.traceQueueingList(list, "1") },
	}
}

// A hook that isn't set costs no allocation.
func TestTraceCostsNothingUnlessAsked(t *testing.T) {
	for name, step := range untracedSteps(&Trace{}) {
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%s: %v allocations without a hook", name, n)
		}
	}
	// The test can tell: with hooks that keep what they are given there are some.
	var kept []CommittedInfo
	with := untracedSteps(&Trace{Committed: func(i CommittedInfo) { kept = append(kept, i) }})
	if n := testing.AllocsPerRun(100, with["commit"]); n == 0 {
		t.Error("no allocation with a hook either")
	}
}

// BenchmarkTrace is one call of a handler, without hooks and with both.
func BenchmarkTrace(b *testing.B) {
	for _, bm := range []struct {
		name  string
		trace *Trace
	}{
		{"none", &Trace{}},
		{"both", &Trace{Delivering: func(DeliveringInfo) {}, Returned: func(ReturnedInfo) {}}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			call := untracedSteps(bm.trace)["call"]
			for b.Loop() {
				call()
			}
		})
	}
}
