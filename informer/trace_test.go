package informer_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// steps records the hooks in the order of their calls.
type steps struct {
	mu   sync.Mutex
	said []string
}

func (s *steps) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *steps) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said
	s.said = nil
	return said
}

// trace is one with every hook, each of which says what it is told and then
// calls each.
func (s *steps) trace(each func()) *informer.Trace {
	return &informer.Trace{
		Wire: reflector.Trace{
			RequestBegun: func(i *reflector.RequestInfo) {
				s.say("begun %s from %q initial=%v", i.Op, i.ResourceVersion, i.SendInitialEvents)
				each()
			},
			RequestAnswered: func(i reflector.AnswerInfo) { s.say("answered %s %d", i.Request.Op, i.Code); each() },
			Received:        func(i reflector.ReceivedInfo) { s.say("received %v some=%v", i.Event, i.Bytes > 0); each() },
			Decoded: func(i reflector.DecodedInfo) {
				s.say("decoded %s at %s", i.Key, i.ResourceVersion)
				each()
			},
			RequestEnded: func(i reflector.EndInfo) {
				s.say("ended %s objects=%d some=%v err=%v", i.Request.Op, i.Objects, i.Bytes > 0, i.Err)
				each()
			},
		},
		Queueing: func(i informer.QueueingInfo) {
			keys := 0
			if i.Keys != nil {
				keys = len(slices.Collect(i.Keys))
			}
			s.say("queueing %s objects=%d keys=%d at %s", i.Key, i.Objects, keys, i.ResourceVersion)
			each()
		},
		Committed: func(i informer.CommittedInfo) {
			s.say("committed %s at %s, %d objects", i.Source, i.ResourceVersion, i.Objects)
			for c := range i.Changes {
				s.say(" %s %s %s->%s", c.Type, c.Key, c.OldResourceVersion, c.ResourceVersion)
			}
			each()
		},
		Delivering: func(i informer.DeliveringInfo) {
			s.say("delivering %s %s to %s initial=%v", i.Type, i.Key, i.Handler, i.Initial)
			each()
		},
		Returned: func(i informer.ReturnedInfo) {
			s.say("returned %s from %s after %v, panic=%v", i.Key, i.Handler, i.Took, i.Panic != nil)
			each()
		},
	}
}

func traced(t *testing.T, server *apisim.Server, trace *informer.Trace) *informer.Informer[pod] {
	t.Helper()
	source, err := reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{})
	if err != nil {
		t.Fatal(err)
	}
	return informer.New(source, informer.Options[pod]{Name: "pods", Trace: trace, Reflector: reflector.Options{WatchList: reflector.WatchListNever}})
}

// Each stage from bytes to the handler's return is told, in this order, with
// what it is about.
func TestTraceTellsEachStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		first := create(t, server, "default", "a")
		listed := server.ResourceVersion()
		var s steps
		pods := traced(t, server, s.trace(func() {}))
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) { time.Sleep(time.Second) }), informer.WithName("slow"))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = pods.Run(ctx) })
		defer running.Wait()
		defer cancel()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantSteps(t, s.take(), []string{
			`begun list from "0" initial=false`,
			"answered list 200",
			"received EventType(0) some=true",
			"decoded default/a at " + first.ResourceVersion,
			"ended list objects=1 some=true err=<nil>",
			"queueing  objects=1 keys=1 at " + listed,
			"committed list at " + listed + ", 1 objects",
			" ADDED default/a ->" + first.ResourceVersion,
			"delivering ADDED default/a to slow initial=true",
			"returned default/a from slow after 1s, panic=false",
		}, "begun watch", "answered watch")

		second := setPhase(t, server, "default", "a", "Running")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantSteps(t, s.take(), []string{
			"received MODIFIED some=true",
			"decoded default/a at " + second.ResourceVersion,
			"queueing default/a objects=1 keys=0 at " + second.ResourceVersion,
			"committed watch at " + second.ResourceVersion + ", 1 objects",
			" UPDATED default/a " + first.ResourceVersion + "->" + second.ResourceVersion,
			"delivering UPDATED default/a to slow initial=false",
			"returned default/a from slow after 1s, panic=false",
		})

		cancel()
		running.Wait()
		if got := s.take(); len(got) != 1 || got[0][:len("ended watch objects=1 some=true err=")] != "ended watch objects=1 some=true err=" {
			t.Errorf("the end of the watch: %q", got)
		}
	})
}

// wantSteps compares, leaving out steps that begin with one of the words: those
// that other goroutines take meanwhile.
func wantSteps(t *testing.T, got, want []string, but ...string) {
	t.Helper()
	got = slices.DeleteFunc(got, func(step string) bool {
		return slices.ContainsFunc(but, func(word string) bool { return len(step) >= len(word) && step[:len(word)] == word })
	})
	if !slices.Equal(got, want) {
		t.Errorf("the hooks said\n%q\nwant\n%q", got, want)
	}
}

// A refused request is answered with its error, and has no end.
func TestTraceTellsOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		source, err := reflector.NewHTTPSource(server.Config(), podsGVR.GroupVersion().WithResource("nosuch"), reflector.SourceOptions[pod]{})
		if err != nil {
			t.Fatal(err)
		}
		var answers []reflector.AnswerInfo
		ends := 0
		ctx := reflector.WithTrace(t.Context(), &reflector.Trace{
			RequestAnswered: func(i reflector.AnswerInfo) { answers = append(answers, i) },
			RequestEnded:    func(reflector.EndInfo) { ends++ },
		})
		if _, err := source.Watch(ctx, reflector.WatchOptions{}); err == nil {
			t.Fatal("no error")
		}
		if len(answers) != 1 || answers[0].Code != 404 || answers[0].Err == nil || answers[0].Request.Op != "watch" || ends != 0 {
			t.Errorf("answers %+v, %d ends; want one 404 with its error, and none", answers, ends)
		}
	})
}

// An isolated panic is told.
func TestTraceTellsOfPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		var got []informer.ReturnedInfo
		f, pods := podInformer(t, server, informer.WithTrace(func(name string) *informer.Trace {
			if name != "pods" {
				t.Errorf("the trace is asked for by the name %q", name)
			}
			return &informer.Trace{Returned: func(i informer.ReturnedInfo) { got = append(got, i) }}
		}))
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) { panic("no") }), informer.WithPanicPolicy(informer.IsolatePanics))
		start(t, f)
		if len(got) != 1 || got[0].Panic == nil || got[0].Panic.Value != "no" {
			t.Errorf("returned: %+v; want one with the panic", got)
		}
	})
}

// H7: a hook may call any method that a handler may, on the spot.
func TestH7TraceHooksMayCallTheInformer(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		var s steps
		var f *informer.Factory
		var pods *informer.Informer[pod]
		busy := false
		var once sync.Mutex
		f, pods = podInformer(t, server, queue, informer.WithTrace(func(string) *informer.Trace {
			return s.trace(func() {
				once.Lock()
				if busy {
					once.Unlock()
					return // called by what follows
				}
				busy = true
				once.Unlock()
				pods.Status()
				pods.HasSynced()
				pods.Snapshot().Len()
				_ = pods.WaitForResourceVersion(canceled(context.Background()), "1")
				_ = pods.SetNamespaces("x")
				f.Informers()
				for range pods.StoredFrom(object.Key{}) {
				}
				r, err := pods.AddEventHandler(informer.HandlerFuncs[pod]{})
				if err == nil {
					r.Status()
					_ = pods.ShutDownEventHandler(r)
				}
				once.Lock()
				busy = false
				once.Unlock()
			})
		}))
		addHandler(t, pods, newRecorder(t, "recorder"))
		start(t, f)
		setPhase(t, server, "default", "a", "Running")
		remove(t, server, "default", "a")
		synctest.Wait()
		if n := pods.Snapshot().Len(); n != 0 {
			t.Errorf("%d objects left", n)
		}
	})
}

// Commits are told in their order, one at a time, also with several namespaces.
func TestTraceCommitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		namespaces := []string{"n0", "n1", "n2", "n3"}
		var last uint64
		seen := map[string]int{}
		trace := &informer.Trace{Committed: func(i informer.CommittedInfo) {
			if i.Sequence < last {
				t.Errorf("commit %d after %d", i.Sequence, last)
			}
			last = i.Sequence
			for range i.Changes {
				seen[i.Namespace]++
			}
		}}
		pods, err := informer.NewForNamespaces(func(ns string) (reflector.Source[pod], error) {
			return reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{Namespace: ns})
		}, namespaces, informer.Options[pod]{Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = pods.Run(ctx) })
		defer running.Wait()
		defer cancel()
		for n := range 40 {
			create(t, server, namespaces[n%4], fmt.Sprint("p", n))
		}
		synctest.Wait()
		if err := pods.RemoveNamespace("n0"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if seen["n0"] != 20 || seen["n1"] != 10 {
			t.Errorf("changes by namespace %v; want 10 each, and 10 more for the one that left", seen)
		}
	})
}

// JoinTraces calls the hooks of all, and has none where none has.
func TestJoinTraces(t *testing.T) {
	var said []string
	one := func(name string) *informer.Trace {
		return &informer.Trace{Delivering: func(informer.DeliveringInfo) { said = append(said, name) }}
	}
	joined := informer.JoinTraces(nil, one("a"), one("b"))
	joined.Delivering(informer.DeliveringInfo{})
	if !slices.Equal(said, []string{"a", "b"}) || joined.Returned != nil || joined.Wire.Decoded != nil {
		t.Errorf("said %q, with hooks that nobody has given", said)
	}
}
