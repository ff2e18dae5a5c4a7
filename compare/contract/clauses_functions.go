package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func transformClauses() []*clause {
	return []*clause{
		{id: "transform-first", sentence: "What a transform returns is what is stored, indexed and told.", needs: []Capability{Transforms},
			test: func(w *world) {
				w.config.Transform = func(pod *corev1.Pod) (*corev1.Pod, error) {
					pod.Labels = map[string]string{"transformed": "yes"}
					pod.Spec = corev1.PodSpec{}
					return pod, nil
				}
				w.create("a")
				w.sync()
				w.update("a")
				w.create("b")
				w.settle()
				for _, e := range w.rec.all() {
					w.check(e.pod.Labels["transformed"] == "yes" && len(e.pod.Spec.Containers) == 0, "%v came as the server sent it", e)
				}
				for _, pod := range w.subject.List() {
					w.check(pod.Labels["transformed"] == "yes", "the store holds %s as the server sent it", keyOf(pod))
				}
			}},
		{id: "transform-once", sentence: "A transform is called once for each version of an object that is received.", needs: []Capability{Transforms, Watch},
			test: func(w *world) {
				calls := counted(w)
				w.create("a", "b", "c")
				w.sync()
				w.update("a", "a")
				w.delete("b")
				w.settle()
				w.check(calls.most() == 1 && calls.total() == 6, "3 objects, 2 updates, 1 deletion; %v", calls)
			}},
		{id: "transform-error", sentence: "An object whose transform fails in the first list costs only itself: the others are stored, and so is its next version that passes.", needs: []Capability{Transforms},
			test: func(w *world) {
				w.config.Transform = refusing("bad")
				w.create("a", "b", "c")
				w.relabel("b", "bad")
				w.start()
				w.until("the two others are stored", func() bool { return len(w.subject.List()) == 2 })
				w.until("it has synced", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
				w.relabel("b", "web")
				w.settle()
			}},
		{id: "transform-error-event", sentence: "An event whose transform fails leaves the store as it was, and the next version that passes is stored and told.", needs: []Capability{Transforms},
			test: func(w *world) {
				w.config.Transform = refusing("bad")
				w.create("a", "b")
				w.sync()
				before := w.truth()["default/a"]
				w.relabel("a", "bad")
				w.pass(time.Minute)
				w.check(w.store()["default/a"] == before && w.rec.count() == 2, "the store holds %v; %s", w.store(), show(w.rec.all()))
				w.relabel("a", "web")
				w.settle()
			}},
		{id: "transform-error-seen", sentence: "It can be asked for how many objects the transform failed.", needs: []Capability{Transforms, Explains},
			test: func(w *world) {
				w.config.Transform = refusing("bad")
				w.create("a", "b")
				w.relabel("b", "bad")
				w.make()
				x := explaining(w)
				w.sync()
				w.relabel("a", "bad")
				w.pass(time.Minute)
				w.check(x.Refused() == 2, "2 objects; it says %d", x.Refused())
			}},
	}
}

func indexClauses() []*clause {
	return []*clause{
		{id: "index-follows", sentence: "An index finds an object under its present values, and under no others.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.config.Indexers = byApp()
				w.create("a", "b", "c")
				w.sync()
				w.found("web", "a", "b", "c")
				w.relabel("a", "db")
				w.delete("b")
				w.create("d")
				w.settle()
				w.found("web", "c", "d")
				w.found("db", "a")
				w.away(func() { w.relabel("c", "db"); w.delete("d") })
				w.settle()
				w.found("web")
				w.found("db", "a", "c")
			}},
		{id: "index-first", sentence: "When a handler is told something, the indexes are at that state or a later one.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.config.Indexers = byApp()
				w.create("a", "b")
				w.make()
				behind := ""
				w.rec.hook = func(_ int, e told) {
					if e.typ != "DELETED" && !slices.Contains(w.find(e.pod.Labels["app"]), e.key) {
						behind = fmt.Sprintf("at %v the index did not have it", e)
					}
				}
				w.sync()
				w.relabel("a", "db")
				w.settle()
				w.create("c")
				w.settle()
				w.check(behind == "", "%s", behind)
			}},
		{id: "index-late", sentence: "An index that is added while it runs is complete when the addition returns, and is kept up.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				w.do("the index is added")
				w.must(indexed(w).AddIndexers(byApp()), "AddIndexers")
				w.found("web", "a", "b")
				w.relabel("a", "db")
				w.settle()
				w.found("web", "b")
				w.found("db", "a")
			}},
		{id: "index-unknown", sentence: "A query of an index that there is not is an error.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.create("a")
				w.sync()
				pods, err := indexed(w).ByIndex("nothing", "web")
				w.check(err != nil, "it returned %d pods and no error", len(pods))
			}},
		{id: "index-clash", sentence: "A second index of the same name is refused, and the first one stays.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.config.Indexers = byApp()
				w.create("a")
				w.sync()
				err := indexed(w).AddIndexers(map[string]IndexFunc{"app": func(*corev1.Pod) ([]string, error) { return nil, nil }})
				w.check(err != nil, "it was accepted")
				w.found("web", "a")
			}},
		{id: "index-order", sentence: "An index's answer is in the order of keys.", needs: []Capability{Indexes},
			test: func(w *world) {
				w.config.Indexers = byApp()
				w.create(names(20)...)
				w.sync()
				keys := w.find("web")
				w.check(slices.Equal(keys, mapped(names(20), fullKey)), "found: %v", keys)
			}},
		{id: "index-once", sentence: "An index function is called once for each state of an object.", needs: []Capability{Indexes},
			test: func(w *world) {
				calls := &tally{}
				w.config.Indexers = map[string]IndexFunc{"app": func(pod *corev1.Pod) ([]string, error) {
					calls.add(pod)
					return []string{pod.Labels["app"]}, nil
				}}
				w.create("a", "b", "c")
				w.sync()
				w.update("a", "a", "b")
				w.delete("c")
				w.settle()
				w.check(calls.most() == 1 && calls.total() == 6, "3 objects, 3 updates, 1 deletion; %v", calls)
			}},
		failing("index-error", "An index function that fails costs its object the place in that index, and nothing else.", func() ([]string, error) { return nil, errRefused }),
		failing("index-panic", "So does one that panics.", func() ([]string, error) { panic("a mistake in an index function") }),
	}
}

// failing is a clause about an index function that goes wrong on the label "bad".
func failing(id, sentence string, wrong func() ([]string, error)) *clause {
	return &clause{id: id, sentence: sentence, needs: []Capability{Indexes}, test: func(w *world) {
		w.config.SurvivePanics = true // client-go panics of an error too
		w.config.Indexers = map[string]IndexFunc{"app": func(pod *corev1.Pod) ([]string, error) {
			if pod.Labels["app"] == "bad" {
				return wrong()
			}
			return []string{pod.Labels["app"]}, nil
		}}
		w.create("a", "b", "c")
		w.relabel("b", "bad")
		w.start()
		w.until("it has synced", func() bool { return w.subject.HasSynced() && w.reg.HasSynced() })
		w.settle()
		w.found("web", "a", "c")
		w.relabel("c", "bad")
		w.settle()
		w.found("web", "a")
		w.relabel("b", "web")
		w.delete("c")
		w.settle()
		w.found("web", "a", "b")
	}}
}

func panicClauses() []*clause {
	return []*clause{
		{id: "panic-next", sentence: "A handler whose panic is survived is told the next event.", needs: []Capability{Panics},
			test: func(w *world) {
				w.config.SurvivePanics = true
				w.create("a", "b")
				w.make()
				w.rec.hook = func(_ int, e told) {
					if e.typ == "UPDATED" && e.key == "default/a" {
						panic("a mistake in a handler")
					}
				}
				w.sync()
				w.update("a", "b")
				w.delete("a")
				w.settle()
				w.check(len(w.rec.illegal) == 0 && w.rec.count() == 5, "%s", show(w.rec.all()))
			}},
		{id: "panic-sync", sentence: "A handler that panics in the first list syncs nevertheless.", needs: []Capability{Panics},
			test: func(w *world) {
				w.config.SurvivePanics = true
				w.create("a", "b", "c")
				w.make()
				w.rec.hook = func(n int, _ told) {
					if n == 2 {
						panic("a mistake in a handler")
					}
				}
				w.start()
				w.until("the handler has synced", w.reg.HasSynced)
				w.check(w.rec.count() == 3, "%s", show(w.rec.all()))
			}},
		{id: "panic-alone", sentence: "A handler that panics at each call holds up neither the store nor another handler.", needs: []Capability{Panics, ManyHandlers},
			test: func(w *world) {
				w.config.SurvivePanics = true
				w.create("a", "b")
				w.sync()
				bad := &recorder{hook: func(int, told) { panic("a mistake in a handler") }}
				w.addHandler(bad)
				w.pass(time.Minute)
				w.update("a", "b")
				w.settle()
				w.until("the other was called for everything", func() bool { return bad.count() == 4 })
			}},
	}
}

var errRefused = errors.New("refused by the function")

// refusing is a transform that fails on one value of the label app.
func refusing(app string) func(*corev1.Pod) (*corev1.Pod, error) {
	return func(pod *corev1.Pod) (*corev1.Pod, error) {
		if pod.Labels["app"] == app {
			return nil, errRefused
		}
		return pod, nil
	}
}

// tally counts calls by the version of the object that they were about.
type tally struct {
	mu    sync.Mutex
	calls map[string]int
}

func (t *tally) add(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil {
		t.calls = make(map[string]int)
	}
	t.calls[keyOf(pod)+"@"+pod.ResourceVersion]++
}

func (t *tally) most() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := 0
	for _, n := range t.calls {
		most = max(most, n)
	}
	return most
}

func (t *tally) total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0
	for _, n := range t.calls {
		sum += n
	}
	return sum
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, k := range slices.Sorted(maps.Keys(t.calls)) {
		all = append(all, fmt.Sprintf("%s: %d", k, t.calls[k]))
	}
	return "calls of " + strings.Join(all, ", ")
}

// counted sets a transform that counts.
func counted(w *world) *tally {
	t := &tally{}
	w.config.Transform = func(pod *corev1.Pod) (*corev1.Pod, error) {
		t.add(pod)
		return pod, nil
	}
	return t
}

func byApp() map[string]IndexFunc {
	return map[string]IndexFunc{"app": func(pod *corev1.Pod) ([]string, error) { return []string{pod.Labels["app"]}, nil }}
}

func indexed(w *world) Indexed {
	x, ok := w.subject.(Indexed)
	if !ok {
		w.lacks("indexes")
	}
	return x
}

// find returns the keys that the index app has under a value, in its order.
func (w *world) find(app string) []string {
	pods, err := indexed(w).ByIndex("app", app)
	w.must(err, "ByIndex")
	var keys []string
	for _, pod := range pods {
		keys = append(keys, keyOf(pod))
	}
	return keys
}

// found checks what the index app has under a value.
func (w *world) found(app string, names ...string) {
	keys := slices.Sorted(slices.Values(w.find(app)))
	w.check(slices.Equal(keys, mapped(names, fullKey)), "under %q the index has %v; want %v", app, keys, mapped(names, fullKey))
}
