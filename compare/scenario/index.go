package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/compare/invariant"
	"informer.example/indexer"
	"informer.example/informer"
)

// indexNames are the indexes that a script can add.
var indexNames = []string{"app", "turn", "letters", "picky"}

// indexFunc returns an index function of a script.
func indexFunc[T metav1.Object](name string) indexer.IndexFunc[T] {
	switch name {
	case "app": // one value for many objects
		return indexer.SimpleIndex(func(obj T) string { return obj.GetLabels()["app"] })
	case "turn": // another one with each update; none before the first
		return indexer.SimpleIndex(func(obj T) string { return obj.GetAnnotations()["turn"] })
	case "letters": // several values
		return func(obj T) (letters []string, err error) {
			for _, r := range obj.GetName() {
				letters = append(letters, string(r))
			}
			return letters, nil
		}
	}
	return func(obj T) ([]string, error) { // it fails now and then
		if n, _ := strconv.Atoi(obj.GetAnnotations()["turn"]); n%3 == 1 {
			return nil, errors.New("as the script wants it")
		}
		return []string{"ok"}, nil
	}
}

// parseIndex: index or unindex NAME
func parseIndex(verb string, a args) (func(*runner) error, error) {
	name, err := a.word(0)
	if err != nil {
		return nil, err
	}
	if err := oneOf(name, indexNames...); err != nil {
		return nil, err
	}
	return func(r *runner) error {
		if verb == "unindex" {
			return r.subject.unindex(name)
		}
		return r.subject.index(name)
	}, nil
}

// recount holds each index against a count of the objects. The functions are the
// script's own, not those that the informer was given.
func recount[T metav1.Object](c *invariant.Checker, i *informer.Informer[T], names map[string]bool) {
	snap := i.Snapshot()
	for name := range names {
		want, f := map[string][]string{}, indexFunc[T](name)
		for key, obj := range snap.All() {
			values, err := f(obj)
			if err != nil {
				continue
			}
			slices.Sort(values)
			for _, v := range slices.Compact(values) {
				want[v] = append(want[v], key.String())
			}
		}
		if got, want := snap.ListIndexFuncValues(name), slices.Sorted(maps.Keys(want)); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			c.Broken("index", "%s has the values %q, a recount %q", name, got, want)
		}
		for v, keys := range want {
			if got, err := snap.IndexKeys(name, v); err != nil || !slices.Equal(got, keys) {
				c.Broken("index", "%s has %q under %q (%v), a recount %q", name, got, v, err, keys)
			}
			objects, err := i.GetIndexer().ByIndex(name, v)
			if got := keysOf(objects); err != nil || !slices.Equal(got, keys) {
				c.Broken("index", "%s finds %q under %q (%v), a recount %q", name, got, v, err, keys)
			}
		}
	}
	var web []string
	for key, obj := range snap.All() {
		if obj.GetLabels()["app"] == "web" {
			web = append(web, key.String())
		}
	}
	objects, err := i.Lister().List(metav1.ListOptions{LabelSelector: "app=web"})
	if got := keysOf(objects); err != nil || !slices.Equal(got, web) {
		c.Broken("index", "a list by label finds %q (%v), a recount %q", got, err, web)
	}
}

func keysOf[T metav1.Object](objects []T) (keys []string) {
	for _, obj := range objects {
		keys = append(keys, fmt.Sprintf("%s/%s", obj.GetNamespace(), obj.GetName()))
	}
	return keys
}

// frozen is a snapshot, and what was in it when it was taken.
type frozen[T metav1.Object] struct {
	snapshot *indexer.Snapshot[T]
	state    invariant.State
}

// thaw holds a snapshot against what was in it, and against the differences from it
// to the present.
func (f frozen[T]) thaw(c *invariant.Checker, now *indexer.Snapshot[T]) {
	state := stateIn(f.snapshot)
	if !maps.Equal(state, f.state) {
		c.Broken("snapshot", "at version %s had %d objects, and has others now", f.snapshot.ResourceVersion(), len(f.state))
	}
	for change := range indexer.Diff(f.snapshot, now) {
		if change.New == nil {
			delete(state, change.Key())
		} else {
			state[change.Key()] = invariant.Version{UID: change.New.UID, RV: change.New.ResourceVersion}
		}
	}
	if want := stateIn(now); !maps.Equal(state, want) {
		c.Broken("snapshot", "the differences from version %s to %s lead to %d objects, there are %d",
			f.snapshot.ResourceVersion(), now.ResourceVersion(), len(state), len(want))
	}
}

func stateIn[T metav1.Object](s *indexer.Snapshot[T]) invariant.State {
	state := make(invariant.State, s.Len())
	for key, obj := range s.All() {
		state[key] = invariant.Version{UID: obj.GetUID(), RV: obj.GetResourceVersion()}
	}
	return state
}
