package indexer

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"informer.example/object"
)

// Several conditions, several values, any value, in a namespace and behind a key:
// as counting by hand, for entries older than the index and for newer ones.
func TestQuery(t *testing.T) {
	ix := New(Indexers[*obj]{"ip": testIndexers["ip"]})
	fill := func(from, to int) {
		for n := from; n < to; n++ {
			o := item(fmt.Sprintf("%s/o%02d", []string{"a", "a-b", "b"}[n%3], n), "u", "1").Object
			o.IP = fmt.Sprint(n % 4)
			o.Tags = []string{"x", "y"}[:n%3]
			if err := ix.Add(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(0, 30)
	if err := ix.AddIndexers(Indexers[*obj]{"tags": testIndexers["tags"]}); err != nil {
		t.Fatal(err)
	}
	fill(30, 60)
	s := ix.Snapshot()
	for _, namespace := range []string{"", "a", "a-b", "none"} {
		for _, after := range []object.Key{{}, {Namespace: "a", Name: "o30"}, {Namespace: "a-b", Name: "o"}, {Namespace: "z", Name: "z"}} {
			for _, ips := range [][]string{{"1"}, {"1", "3", "1"}, nil} {
				for _, tags := range [][]string{{"y"}, {"x", "y"}, nil, {"none"}} {
					q := Query{Namespace: namespace, After: after, Where: []Condition{{"ip", ips}, {"tags", tags}}}
					var want, got []object.Key
					for key, o := range s.All() {
						if (namespace == "" || key.Namespace == namespace) && (after == object.Key{} || key.Compare(after) > 0) &&
							(ips == nil || slices.Contains(ips, o.IP)) &&
							(tags == nil && len(o.Tags) > 0 || slices.ContainsFunc(o.Tags, func(tag string) bool { return slices.Contains(tags, tag) })) {
							want = append(want, key)
						}
					}
					items, err := s.Query(q)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 { // it can be gone through again
						got = got[:0]
						for it := range items {
							got = append(got, it.Key)
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%+v: %v, want %v", q, got, want)
						}
					}
					if plan, err := s.Plan(q); err != nil || plan.Candidates < len(want) || plan.Candidates != plan.Sizes[plan.First] {
						t.Fatalf("%+v: %+v, %v", q, plan, err)
					}
				}
			}
		}
	}
	var unknown *UnknownIndexError
	if _, err := s.Query(Query{Where: []Condition{{Index: "none"}}}); !errors.As(err, &unknown) {
		t.Errorf("%v, want an *UnknownIndexError", err)
	}
}

// A field that one object has in another form is not indexed for it, and the
// index says so, until that object is mended or gone.
func TestFieldIndexCountsWhatItLacks(t *testing.T) {
	type object = *unstructured.Unstructured
	ix := New[object](nil)
	add := func(name string, phase any) error {
		return ix.Add(&unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name}, "status": map[string]any{"phase": phase},
		}})
	}
	lacks := func() int {
		_, n, ok := ix.Snapshot().FieldIndexName("status[phase]")
		if !ok {
			t.Fatal("the index is not found by its path")
		}
		return n
	}
	_, _ = add("a", "on"), add("b", map[string]any{})
	var errs IndexErrors
	if err := ix.AddFieldIndexes("status.phase"); !errors.As(err, &errs) || len(errs) != 1 || errs[0].Key.Name != "b" {
		t.Fatalf("%v, want b named", err)
	}
	for _, step := range []struct {
		do   func()
		want int
	}{
		{func() {}, 1},
		{func() { _ = add("c", map[string]any{}) }, 2},
		{func() { _ = add("c", map[string]any{"x": "y"}) }, 2},
		{func() { _ = add("b", "on") }, 1},
		{func() { _ = add("a", map[string]any{}) }, 2},
		{func() { ix.DeleteKey(item("c", "", "").Key) }, 1},
		{func() { _ = ix.Replace(nil, "9") }, 0},
	} {
		if step.do(); lacks() != step.want {
			t.Errorf("lacks %d, want %d", lacks(), step.want)
		}
	}
}

// An index function that ends its goroutine leaves no half-built index behind:
// the name is free again.
func TestAddIndexersCutShort(t *testing.T) {
	ix := New[*obj](nil)
	if err := ix.Add(item("a/x", "u", "1").Object); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = ix.AddIndexers(Indexers[*obj]{"ip": func(*obj) ([]string, error) { runtime.Goexit(); return nil, nil }})
	})
	wg.Wait()
	if err := ix.AddIndexers(Indexers[*obj]{"ip": testIndexers["ip"]}); err != nil {
		t.Error(err)
	}
	checkInvariants(t, ix)
}

func TestLabelIndex(t *testing.T) {
	ix := New[*obj](nil)
	for name, labels := range map[string]map[string]string{"none": nil, "empty": {"app": ""}, "web": {"app": "web"}} {
		o := item("a/"+name, "u", "1").Object
		o.SetLabels(labels)
		_ = ix.Add(o)
	}
	if err := ix.AddLabelIndexes("app"); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "a/empty", "web": "a/web"} {
		if got, err := ix.IndexKeys(LabelIndexName("app"), value); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %v, %v; want %s", value, got, err, want)
		}
	}
}
