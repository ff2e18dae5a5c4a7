package contract

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func storeClauses() []*clause {
	return []*clause{
		{id: "relist-whole", sentence: "A new list replaces the store in one step: no reader sees half of it.",
			test: func(w *world) {
				w.create(names(10)...)
				w.make()
				w.sync()
				before := w.truth()
				var after state
				half := ""
				look := func() {
					if now := w.store(); !equal(now, before) && !equal(now, after) {
						half = now.String()
					}
				}
				w.away(func() {
					w.delete(names(3)...)
					w.update(names(10)[5:]...)
					w.create("new")
					after = w.truth()
					w.rec.hook = func(int, told) { look() }
				})
				w.converge()
				w.check(half == "", "a reader saw %s\nbefore: %v\nafter:  %v", half, before, after)
			}},
		{id: "relist-silent", sentence: "A new list tells nothing of the objects that it brings unchanged.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.sync()
				n := w.rec.count()
				w.away(func() { w.update("b") })
				w.settle()
				events := w.rec.since(n)
				w.check(len(events) == 1 && events[0].key == "default/b", "%s", show(events))
			}},
		{id: "list-order", sentence: "List returns the objects in the order of keys.",
			test: func(w *world) {
				w.create(names(20)...)
				w.create("a-b/x", "a/x")
				w.sync()
				var keys []string
				for _, pod := range w.subject.List() {
					keys = append(keys, keyOf(pod))
				}
				want := append([]string{"a-b/x", "a/x"}, mapped(names(20), fullKey)...)
				w.check(slices.Equal(keys, want), "listed: %v", keys)
			}},
		{id: "list-own", sentence: "The slice that List returns is the caller's: changing it changes nothing, and it doesn't change.",
			test: func(w *world) {
				w.create("a", "b", "c")
				w.sync()
				kept := w.subject.List()
				was := texted(kept)
				spoiled := w.subject.List()
				clear(spoiled)
				w.update("a")
				w.delete("b")
				w.settle()
				w.check(slices.Equal(was, texted(kept)), "the slice was %v and is %v", was, texted(kept))
			}},
		{id: "objects-fixed", sentence: "An object that was handed out never changes: a new state is a new object.",
			test: func(w *world) {
				w.create("a")
				w.sync()
				pod, _ := w.subject.Get("default/a")
				w.check(pod != nil, "Get finds no default/a")
				rv := pod.ResourceVersion
				w.update("a")
				w.settle()
				w.away(func() { w.update("a") })
				w.settle()
				w.check(pod.ResourceVersion == rv && pod.Annotations == nil, "it was version %s and is version %s", rv, pod.ResourceVersion)
			}},
		{id: "get-keys", sentence: "Get finds an object by namespace/name, and nothing else.",
			test: func(w *world) {
				w.create("a", "other/b")
				w.sync()
				for key, want := range map[string]bool{"default/a": true, "other/b": true, "a": false, "default/b": false, "other/": false, "": false} {
					_, ok := w.subject.Get(key)
					w.check(ok == want, "Get(%q) found something: %v", key, ok)
				}
			}},
		{id: "outage-keeps", sentence: "While the server can't be reached the store stays as it was, and nothing is told.",
			test: func(w *world) {
				w.create("a", "b")
				w.sync()
				was, n := w.store(), w.rec.count()
				w.apart(func() {
					w.pass(20 * time.Minute)
					w.check(equal(was, w.store()) && w.rec.count() == n, "the store is %v; %s", w.store(), show(w.rec.since(n)))
				})
				w.settle()
			}},
	}
}

func scopeClauses() []*clause {
	return []*clause{
		{id: "selector-leave", sentence: "An object that leaves the selector is told as deleted and leaves the store; one that comes back is told as added.",
			test: func(w *world) {
				w.config.LabelSelector = "app=web"
				w.create("a", "b")
				w.sync()
				w.relabel("a", "other")
				w.settle()
				w.check(!has(w, "a"), "default/a is still in the store")
				w.relabel("a", "web")
				w.settle()
				var types []string
				for _, e := range w.rec.about("a") {
					types = append(types, e.typ)
				}
				w.check(strings.Join(types, " ") == "ADDED DELETED ADDED", "%s", show(w.rec.about("a")))
			}},
		{id: "namespace-scope", sentence: "With a namespace, that namespace alone is asked for, and nothing else is told.",
			test: func(w *world) {
				w.config.Namespace = "mine"
				w.create("mine/a", "other/b")
				w.sync()
				w.update("mine/a", "other/b")
				w.create("other/c", "mine/d")
				w.settle()
				for _, e := range w.rec.all() {
					w.check(strings.HasPrefix(e.key, "mine/"), "%v", e)
				}
				for _, r := range w.requests {
					w.check(strings.Contains(r.path, "/namespaces/mine/"), "it asked for %s", r.path)
				}
			}},
	}
}

func has(w *world, name string) bool {
	_, ok := w.subject.Get(fullKey(name))
	return ok
}

func texted(pods []*corev1.Pod) []string {
	all := make([]string, len(pods))
	for i, p := range pods {
		if p != nil {
			all[i] = keyOf(p) + "@" + p.ResourceVersion
		}
	}
	return all
}
