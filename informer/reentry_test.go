package informer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/apisim/fault"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// H7: whichever function of the user runs, it may call any method. Each function
// is a place; a place's test has the function call every method, once, in the
// midst of things. What it waits for is a context that has ended already.
//
// The places and the methods are found by reflection as far as that goes: a new
// hook, option or method fails here until it is in the tables.
func TestH7_AnyFunctionMayCallAnyMethod(t *testing.T) {
	places := []string{
		"Options.Keep", "Options.KeyFunc", "Options.Indexers", "an index function that fails", "Options.Logger",
		"SourceOptions.Transform", "SourceOptions.KeyFunc", "SourceOptions.New", "newSource",
		"AddIndexers", "a loop over Events", "a loop over StoredFrom", "a resync",
		"a handler with the policy elastic", "a handler with the policy latest", "a handler with the policy block",
		"a handler of a factory's informer", "a loop over a snapshot",
	}
	for _, of := range []any{informer.Trace{}, reflector.Trace{}, reflector.Options{}} {
		for f := range funcFields(of) {
			places = append(places, reflect.TypeOf(of).String()+"."+f.Name)
		}
	}
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			w := &reentered{t: t, place: place}
			// Virtual time stands still when somebody waits for a lock, so this
			// one is real. It is not waited for.
			defer time.AfterFunc(30*time.Second, func() {
				panic(fmt.Sprintf("%s hangs in %v", place, w.call.Load()))
			}).Stop()
			synctest.Test(t, w.run)
		})
	}
}

// reentered is an informer all of whose functions are places.
type reentered struct {
	t      *testing.T
	place  string // the one that calls the methods
	ready  atomic.Bool
	called atomic.Bool
	call   atomic.Value // the name of the method that is being called
	done   chan struct{}
	fresh  atomic.Int64 // makes names

	server        *apisim.Server
	pods          *informer.Informer[pod]
	idle          *informer.Registration[pod]
	shared, spare *informer.Factory
}

// at is called by every function of the user. In the place in question it calls
// all methods, the first time.
func (w *reentered) at(place string) {
	if place != w.place || !w.ready.Load() || w.called.Swap(true) {
		return
	}
	for _, m := range w.methods() {
		w.call.Store(m.name)
		m.call()
	}
	close(w.done)
}

// name is one that wasn't used before.
func (w *reentered) name() string { return fmt.Sprint("fresh-", w.fresh.Add(1)) }

func (w *reentered) handler(place string) informer.EventHandler[pod] {
	return informer.HandlerFunc[pod](func(e event) {
		if e.Source == informer.FromResync {
			w.at("a resync")
			return
		}
		w.at(place)
	})
}

// watched is a struct of functions, all of which are places of this name.
func (w *reentered) watched(of any) {
	v := reflect.ValueOf(of).Elem()
	for f := range funcFields(v.Interface()) {
		place := v.Type().String() + "." + f.Name
		v.FieldByIndex(f.Index).Set(reflect.MakeFunc(f.Type, func([]reflect.Value) (out []reflect.Value) {
			w.at(place)
			for i := range f.Type.NumOut() {
				out = append(out, reflect.Zero(f.Type.Out(i)))
			}
			return out
		}))
	}
}

// funcFields yields the fields that are functions.
func funcFields(of any) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if f.Type.Kind() == reflect.Func && !yield(f) {
				return
			}
		}
	}
}

// mustBeSet fails for options that take a function of which no place was made.
func mustBeSet(t *testing.T, of any) {
	t.Helper()
	for f := range funcFields(of) {
		if reflect.ValueOf(of).FieldByIndex(f.Index).IsNil() {
			t.Fatalf("%T.%s is new: make a place of it, and it will show whether it may call everything", of, f.Name)
		}
	}
}

// placeLogger is a slog.Handler.
type placeLogger struct{ w *reentered }

func (placeLogger) Enabled(context.Context, slog.Level) bool    { return true }
func (l placeLogger) Handle(context.Context, slog.Record) error { l.w.at("Options.Logger"); return nil }
func (l placeLogger) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l placeLogger) WithGroup(string) slog.Handler             { return l }

func (w *reentered) keyFunc(place string) object.KeyFunc[pod] {
	return func(p pod) (object.Key, error) { w.at(place); return object.KeyOf(p) }
}

// ownKeys says which of the informer's two forms it is: one with a set of
// namespaces takes no KeyFunc.
func (w *reentered) ownKeys() bool { return strings.HasSuffix(w.place, ".KeyFunc") }

func (w *reentered) source(namespace string) (reflector.Source[pod], error) {
	w.at("newSource")
	opts := reflector.SourceOptions[pod]{
		Namespace: namespace,
		KeyFunc:   w.keyFunc("SourceOptions.KeyFunc"),
		New:       func() pod { w.at("SourceOptions.New"); return newPod("", "", "") },
		Transform: func(p pod) (pod, error) {
			w.at("SourceOptions.Transform")
			if p.Name == "quarantined" {
				return nil, errors.New("not this one")
			}
			return p, nil
		},
	}
	mustBeSet(w.t, opts)
	if !w.ownKeys() {
		opts.KeyFunc = nil
	}
	return reflector.NewHTTPSource(w.server.Config(), podsGVR, opts)
}

func (w *reentered) build() {
	w.server = apisim.New()
	for _, name := range []string{"a", "quarantined"} {
		create(w.t, w.server, "ns", name)
	}
	var hooks informer.Trace
	w.watched(&hooks)
	w.watched(&hooks.Wire)
	opts := informer.Options[pod]{
		Keep:    func(pod) bool { w.at("Options.Keep"); return true },
		KeyFunc: w.keyFunc("Options.KeyFunc"),
		Indexers: indexer.Indexers[pod]{
			"name": func(p pod) ([]string, error) { w.at("Options.Indexers"); return []string{p.Name}, nil },
			"fails": func(pod) ([]string, error) {
				w.at("an index function that fails")
				return nil, errors.New("it does")
			},
		},
		Trace:     &hooks,
		Logger:    slog.New(placeLogger{w}),
		Reflector: reflector.Options{Logger: slog.New(placeLogger{w})},
	}
	w.watched(&opts.Reflector)
	mustBeSet(w.t, opts)
	mustBeSet(w.t, opts.Reflector)
	if w.ownKeys() {
		source, err := w.source("")
		if err != nil {
			w.t.Fatal(err)
		}
		w.pods = informer.New(source, opts)
	} else {
		opts.KeyFunc = nil
		var err error
		if w.pods, err = informer.NewForNamespaces(w.source, []string{"ns"}, opts); err != nil {
			w.t.Fatal(err)
		}
	}
	w.idle = addHandler(w.t, w.pods, informer.HandlerFuncs[pod]{})
	for _, d := range []informer.Delivery{informer.Elastic, informer.Latest, informer.Block} {
		addHandler(w.t, w.pods, w.handler("a handler with the policy "+d.String()), informer.WithDelivery(d), informer.WithHandlerResync(time.Minute))
	}
	var shared *informer.Informer[pod]
	w.shared, shared = podInformer(w.t, w.server)
	addHandler(w.t, shared, w.handler("a handler of a factory's informer"))
	w.spare, _ = podInformer(w.t, w.server)
}

// run makes everything happen that leads to one of the places.
func (w *reentered) run(t *testing.T) {
	w.t, w.done = t, make(chan struct{}) // of this bubble
	w.build()
	w.ready.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { cancel(); running.Wait(); w.shared.Shutdown(); w.spare.Shutdown() }()
	w.spare.Start(ctx)
	outage := fault.New()
	outage.On(fault.Watch).Times(1).Do(fault.Refuse(fault.StatusFor(503), 0))
	w.server.SetFault(outage.Choose)
	running.Go(func() { _ = w.pods.Run(ctx) })
	running.Go(func() {
		for range w.pods.Events(ctx) {
			w.at("a loop over Events")
		}
	})
	running.Go(func() {
		_ = w.pods.AddIndexers(indexer.Indexers[pod]{"later": func(pod) ([]string, error) { w.at("AddIndexers"); return nil, nil }})
	})
	running.Go(func() {
		if err := w.pods.WaitForSync(ctx); err != nil {
			return
		}
		_ = w.pods.AddIndexers(indexer.Indexers[pod]{"latest": func(pod) ([]string, error) { w.at("AddIndexers"); return nil, nil }})
		_, _ = w.pods.Lister().At(w.pods.Snapshot()).Get(object.Key{Namespace: "ns", Name: "a"})
		_, _, _ = w.pods.GetIndexer().Get(newPod("ns", "a", ""))
		for range w.pods.StoredFrom(object.Key{}) {
			w.at("a loop over StoredFrom")
		}
		for range w.pods.Snapshot().All() {
			w.at("a loop over a snapshot")
		}
		_ = w.pods.AddNamespace("another")
	})
	time.Sleep(5 * time.Second) // past the outage
	w.shared.Start(ctx)
	create(t, w.server, "ns", "b")
	setPhase(t, w.server, "ns", "b", "Running")
	remove(t, w.server, "ns", "a")
	select {
	case <-w.done:
	case <-time.After(time.Hour):
		if w.called.Load() {
			t.Fatalf("it waits in %v", w.call.Load())
		}
		t.Fatal("nothing leads to this place")
	}
	// And life goes on.
	synctest.Wait()
	told := newRecorder(t, "told")
	addHandler(t, w.pods, told)
	synctest.Wait()
	told.wants("ADDED ns/b list")
	create(t, w.server, "ns", "c")
	synctest.Wait()
	told.wants("ADDED ns/c watch")
}
