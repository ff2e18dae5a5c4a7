package informer_test

import (
	"errors"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
)

type reentryMethod struct {
	name string
	call func()
}

// methods are all that a function of the user may call, by name. Those that wait
// have a context that is over: what they would wait for may be the caller.
// Two methods wait without one, for what is running: ShutDownEventHandler and
// Shutdown. They are called on a handler and a factory that aren't the caller's.
func (w *reentered) methods() []reentryMethod {
	over := canceled(w.t.Context())
	key := object.Key{Namespace: "ns", Name: "a"}
	selected := metav1.ListOptions{FieldSelector: "status.phase=Running", LabelSelector: "app=web", Limit: 1}
	index := func() indexer.Indexers[pod] {
		return indexer.Indexers[pod]{w.name(): func(p pod) ([]string, error) { return []string{p.Name}, nil }}
	}
	wants := func(err, want error) {
		if !errors.Is(err, want) {
			w.t.Errorf("%v: %v, want %v", w.call.Load(), err, want)
		}
	}
	scope := error(nil)
	if w.ownKeys() {
		scope = informer.ErrNotByNamespace
	}
	added := func() *informer.Registration[pod] {
		r, err := w.pods.AddEventHandler(informer.HandlerFuncs[pod]{})
		wants(err, nil)
		return r
	}
	lister, reader := w.pods.Lister(), w.pods.GetIndexer()
	byNamespace := lister.Namespace("ns")

	return slices.Concat(
		w.table(w.pods, map[string]func(){
			"AddEventHandler":         func() { wants(w.pods.RemoveEventHandler(added()), nil) },
			"AddFieldIndexes":         func() { wants(w.pods.AddFieldIndexes("status.phase", "spec.nodeName"), nil) },
			"AddIndexers":             func() { wants(w.pods.AddIndexers(index()), nil) },
			"AddLabelIndexes":         func() { wants(w.pods.AddLabelIndexes("app"), nil) },
			"AddNamespace":            func() { wants(w.pods.AddNamespace(w.name()), scope) },
			"Done":                    func() { w.pods.Done() },
			"Err":                     func() { _ = w.pods.Err() },
			"Events":                  func() { _, _ = firstOf(w.pods.Events(over)) },
			"Explain":                 func() { _, err := w.pods.Explain(selected); wants(err, nil) },
			"GetAtLeast":              func() { _, _ = w.pods.GetAtLeast(over, key, "1") },
			"GetIndexer":              func() { w.pods.GetIndexer().Len() },
			"HasSynced":               func() { w.pods.HasSynced() },
			"LastSyncResourceVersion": func() { w.pods.LastSyncResourceVersion() },
			"Lister":                  func() { w.pods.Lister() },
			"Namespaces":              func() { w.pods.Namespaces() },
			"Release": func() {
				wants(w.pods.Release(), informer.ErrNotLeased)
				for _, opt := range []informer.InformerOption{informer.WithNamespace(""), informer.WithNamespace(w.name())} {
					leased, err := informer.For[pod](w.shared, opt)
					wants(err, nil)
					_, err = leased.AddEventHandler(informer.HandlerFuncs[pod]{})
					wants(err, nil)
					wants(leased.Release(), nil)
				}
			},
			"RemoveEventHandler": func() { wants(w.pods.RemoveEventHandler(added()), nil) },
			"RemoveIndexer": func() {
				added := index()
				wants(w.pods.AddIndexers(added), nil)
				for name := range added {
					wants(w.pods.RemoveIndexer(name), nil)
				}
			},
			"RemoveNamespace": func() {
				ns := w.name()
				wants(w.pods.AddNamespace(ns), scope)
				wants(w.pods.RemoveNamespace(ns), scope)
			},
			"Run":                  func() { wants(w.pods.Run(over), informer.ErrAlreadyRun) },
			"SetNamespaces":        func() { wants(w.pods.SetNamespaces("ns", w.name()), scope) },
			"ShutDownEventHandler": func() { wants(w.pods.ShutDownEventHandler(added()), nil) },
			"Snapshot":             func() { w.pods.Snapshot().List() },
			"Status":               func() { w.pods.Status() },
			"Stored":               func() { w.pods.Stored(key) },
			"StoredFrom": func() {
				for range w.pods.StoredFrom(object.Key{}) {
				}
			},
			"Synced":                 func() { w.pods.Synced() },
			"WaitForResourceVersion": func() { _ = w.pods.WaitForResourceVersion(over, "1000000") },
			"WaitForSync":            func() { _ = w.pods.WaitForSync(over) },
		}),
		w.table(w.idle, map[string]func(){
			"Done":        func() { w.idle.Done() },
			"Err":         func() { wants(w.idle.Err(), nil) },
			"HasSynced":   func() { w.idle.HasSynced() },
			"Status":      func() { w.idle.Status() },
			"Synced":      func() { w.idle.Synced() },
			"WaitForSync": func() { _ = w.idle.WaitForSync(over) },
		}),
		w.table(lister, map[string]func(){
			"At":        func() { _, err := lister.At(w.pods.Snapshot()).List(selected); wants(err, nil) },
			"Explain":   func() { _, err := lister.Explain(selected); wants(err, nil) },
			"Get":       func() { _, _ = lister.Get(key) },
			"List":      func() { _, err := lister.List(selected); wants(err, nil) },
			"Namespace": func() { lister.Namespace("ns") },
			"Page":      func() { _, err := lister.Page(selected); wants(err, nil) },
		}),
		w.table(byNamespace, map[string]func(){
			"Explain": func() { _, err := byNamespace.Explain(selected); wants(err, nil) },
			"Get":     func() { _, _ = byNamespace.Get("a") },
			"List":    func() { _, err := byNamespace.List(selected); wants(err, nil) },
			"Page":    func() { _, err := byNamespace.Page(selected); wants(err, nil) },
		}),
		w.table((*indexer.Reader[pod])(nil), map[string]func(){
			"ByIndex":             func() { _, err := reader.ByIndex("name", "a"); wants(err, nil) },
			"Get":                 func() { _, _, err := reader.Get(newPod("ns", "a", "")); wants(err, nil) },
			"GetByKey":            func() { _, _, err := reader.GetByKey("ns/a"); wants(err, nil) },
			"Index":               func() { _, err := reader.Index("name", newPod("ns", "a", "")); wants(err, nil) },
			"IndexKeys":           func() { _, err := reader.IndexKeys("name", "a"); wants(err, nil) },
			"Item":                func() { reader.Item(key) },
			"Len":                 func() { reader.Len() },
			"List":                func() { reader.List() },
			"ListIndexFuncValues": func() { reader.ListIndexFuncValues("name") },
			"ListKeys":            func() { reader.ListKeys() },
			"ResourceVersion":     func() { reader.ResourceVersion() },
		}),
		w.table(w.shared, map[string]func(){
			"Informers": func() { w.shared.Informers() },
			"Shutdown":  func() { w.spare.Shutdown() },
			"Start": func() {
				_, err := informer.For[pod](w.shared)
				wants(err, nil)
				w.shared.Start(w.t.Context())
			},
			"WaitForCacheSync": func() { _ = w.shared.WaitForCacheSync(over) },
		}),
	)
}

// table fails for a method of subject that calls doesn't have. An interface is
// given by a nil pointer to it.
func (w *reentered) table(subject any, calls map[string]func()) []reentryMethod {
	typ := reflect.TypeOf(subject)
	if typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Interface {
		typ = typ.Elem()
	}
	var out []reentryMethod
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		call := calls[name]
		if call == nil {
			w.t.Errorf("nobody calls %v.%s yet: put it into the table", typ, name)
			continue
		}
		out = append(out, reentryMethod{typ.String() + "." + name, call})
	}
	return out
}

// firstOf takes one and leaves the loop.
func firstOf(seq func(func(event) bool)) (first event, ok bool) {
	for e := range seq {
		return e, true
	}
	return first, false
}
