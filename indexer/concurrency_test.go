package indexer

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"informer.example/object"
)

// S1, S2: a writer keeps all objects at one number, in one commit each; no
// reader may ever see two numbers, nor an index that says another thing than
// the objects, nor a snapshot that has become another.
func TestReadersSeeWholeCommits(t *testing.T) {
	ix := New(testIndexers)
	const n = 200
	write := func(i int, b *Batch[*obj]) {
		b.Reset()
		for j := range n {
			it := item(fmt.Sprintf("ns%d/n%d", j%3, j), "u", strconv.Itoa(i))
			it.Object.IP = strconv.Itoa(i)
			if j == i%n { // one is absent each time
				b.Delete(object.Item[*obj]{Key: it.Key})
			} else {
				b.Set(it)
			}
		}
		if i%7 == 0 {
			var items []object.Item[*obj]
			for _, o := range b.ops {
				if o.kind == opSet {
					items = append(items, o.item)
				}
			}
			ix.ReplaceItems(items, nil, strconv.Itoa(i))
			return
		}
		ix.Commit(b, strconv.Itoa(i))
	}
	var batch Batch[*obj]
	write(1, &batch)
	var done atomic.Bool
	var readers sync.WaitGroup
	for r := range 3 {
		readers.Go(func() {
			var last uint64
			for !done.Load() {
				s := ix.Snapshot()
				if s.Sequence() < last {
					t.Errorf("sequence went back from %d to %d", last, s.Sequence())
				}
				last = s.Sequence()
				for range 2 {
					vals := s.ListIndexFuncValues("ip")
					objs, _ := s.ByIndex("ip", s.ResourceVersion())
					if len(vals) != 1 || vals[0] != s.ResourceVersion() || len(objs) != n-1 || s.Len() != n-1 {
						t.Errorf("values %q, %d objects at %s", vals, len(objs), s.ResourceVersion())
						return
					}
					for _, o := range s.List() {
						if o.ResourceVersion != s.ResourceVersion() {
							t.Errorf("%s at %s", o.ResourceVersion, s.ResourceVersion())
							return
						}
					}
				}
				if r == 0 {
					if _, _, err := ix.GetByKey("ns0/n0"); err != nil {
						t.Error(err)
					}
					if objs, err := ix.ByIndex("ip", strconv.Itoa(0)); len(objs) != 0 || err != nil {
						t.Error(len(objs), err)
					}
				}
			}
		})
	}
	for i := 2; i < 150; i++ {
		write(i, &batch)
	}
	done.Store(true)
	readers.Wait()
	checkInvariants(t, ix)
}

// S9: indexes come and go while others write; whoever can see one finds it
// complete.
func TestAddIndexersWhileWriting(t *testing.T) {
	ix := New[*obj](nil)
	const n = 500
	put := func(i, rv int) object.Item[*obj] {
		it := item(fmt.Sprintf("ns%d/n%d", i%3, i), "u", strconv.Itoa(rv))
		it.Object.Node, it.Object.Tags = "all", []string{strconv.Itoa(i % 10), strconv.Itoa(rv % 10)}
		return it
	}
	for i := range n {
		_ = ix.Add(put(i, 1).Object)
	}
	var done atomic.Bool
	var others sync.WaitGroup
	for w := range 2 {
		others.Go(func() {
			var b Batch[*obj]
			for rv := 2 + w; !done.Load(); rv += 2 {
				b.Reset()
				b.Set(put(rv*7919%n, rv))
				if gone := put(rv*104729%n, 0); rv%3 == 0 { // away and back, in one commit
					b.Delete(object.Item[*obj]{Key: gone.Key})
					b.Set(put(rv*104729%n, rv))
				}
				if r := ix.Commit(&b, ""); len(r.Errors) > 0 {
					t.Error(r.Errors)
				}
			}
		})
	}
	others.Go(func() {
		for !done.Load() {
			s := ix.Snapshot()
			if objs, err := s.ByIndex("node", "all"); err == nil && len(objs) != n {
				t.Errorf("%d objects in the index, want %d", len(objs), n)
				return
			}
		}
	})
	for range 20 {
		if err := ix.AddIndexers(Indexers[*obj]{"node": testIndexers["node"], "tags": testIndexers["tags"]}); err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, ix)
		if got, err := ix.ByIndex("node", "all"); err != nil || len(got) != n {
			t.Fatalf("%d, %v", len(got), err)
		}
		for name := range maps.Keys(ix.GetIndexers()) {
			if err := ix.RemoveIndexer(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	done.Store(true)
	others.Wait()
}

// S6: index and key functions may call anything, and change the store while it
// is being changed. A lock held around them would deadlock here.
func TestCallbacksCallTheStore(t *testing.T) {
	var ix *Indexer[*obj]
	depth := 0
	calls := 0
	busy := func(o *obj) ([]string, error) {
		if depth > 0 {
			return []string{"inner"}, nil
		}
		depth++
		defer func() { depth-- }()
		calls++
		inner := item(fmt.Sprintf("inner/n%d", calls), "", "1").Object
		_ = ix.Add(inner)
		_ = ix.Delete(inner)
		ix.List()
		ix.Snapshot()
		_, _, _ = ix.Get(o)
		_, _ = ix.ByIndex("busy", "inner")
		ix.SetResourceVersion(strconv.Itoa(calls))
		ix.ReplaceItems([]object.Item[*obj]{item(fmt.Sprintf("inner/r%d", calls), "", "1")}, nil, "")
		if calls < 50 { // the set of indexes changes under the feet of every commit
			name := fmt.Sprint("late", calls)
			if err := ix.AddIndexers(Indexers[*obj]{name: testIndexers["ip"]}); err != nil {
				t.Error(err)
			}
			if err := ix.RemoveIndexer(name); err != nil {
				t.Error(err)
			}
		}
		return []string{"outer"}, nil
	}
	ix = New(Indexers[*obj]{"busy": busy}, WithKeyFunc(func(o *obj) (object.Key, error) {
		ix.Len()
		ix.List()
		return object.KeyOf(o)
	}))
	if err := ix.Add(item("a/x", "", "1").Object); err != nil {
		t.Fatal(err)
	}
	if err := ix.Replace([]*obj{item("a/x", "", "2").Object, item("a/y", "", "3").Object}, "9"); err != nil {
		t.Fatal(err)
	}
	if got := ix.ListKeys(); fmt.Sprint(got) != "[a/x a/y]" {
		t.Errorf("%q: the replacement is not the last word", got)
	}
	if calls != 3 {
		t.Errorf("%d calls for 3 items: an index function is asked once, whatever changes meanwhile", calls)
	}
	if err := ix.AddIndexers(Indexers[*obj]{"busy2": busy}); err != nil {
		t.Fatal(err)
	}
	// An index that removes itself while it is built.
	err := ix.AddIndexers(Indexers[*obj]{"fickle": func(*obj) ([]string, error) {
		if e := ix.RemoveIndexer("fickle"); e != nil && !errors.As(e, new(*UnknownIndexError)) {
			t.Error(e)
		}
		return nil, nil
	}})
	if !errors.As(err, new(*AddIndexersError)) {
		t.Errorf("%v", err)
	}
}

// The replacement is the last word, whoever writes while it is being prepared:
// here, the index function does. One item that needed no storing before needs
// it by then.
func TestReplaceMeetsOtherWriters(t *testing.T) {
	var ix *Indexer[*obj]
	busy := false
	calls := map[string]int{}
	ix = New(Indexers[*obj]{"busy": func(o *obj) ([]string, error) {
		if calls[o.Name+o.ResourceVersion]++; busy {
			busy = false
			_ = ix.Add(item("a/extra", "u", "8").Object)
			ix.DeleteKey(object.Key{Namespace: "a", Name: "gone"})
			ix.DeleteKey(object.Key{Namespace: "a", Name: "same"})
			_ = ix.Add(item("a/new", "u", "9").Object)
		}
		return []string{o.Name}, nil
	}})
	for _, key := range []string{"a/gone", "a/same"} {
		_ = ix.Add(item(key, "u", "1").Object)
	}
	busy = true
	clear(calls)
	before, after, _ := ix.ReplaceItems([]object.Item[*obj]{item("a/new", "u", "9"), item("a/newer", "u", "9"), item("a/same", "u", "1")}, nil, "10")
	if fmt.Sprint(after.ListKeys()) != "[a/new a/newer a/same]" || after != ix.Snapshot() {
		t.Errorf("%q", after.ListKeys())
	}
	if fmt.Sprint(before.ListKeys()) != "[a/extra a/new]" {
		t.Errorf("before is %q, want the state just before", before.ListKeys())
	}
	// The one call for "new" of each writer; no item of the list is asked about twice.
	if fmt.Sprint(calls) != "map[extra8:1 new9:2 newer9:1 same1:1]" {
		t.Errorf("calls: %v", calls)
	}
	if got := ix.ListIndexFuncValues("busy"); fmt.Sprint(got) != "[new newer same]" {
		t.Errorf("index: %q", got)
	}
}

// The state before is the one just before the commit, not the one that the
// preparation began with.
func TestReplaceReturnsTheStateBefore(t *testing.T) {
	var ix *Indexer[*obj]
	ix = New(Indexers[*obj]{"busy": func(o *obj) ([]string, error) {
		if o.Name == "listed" {
			_ = ix.Add(item("a/extra", "u", "8").Object)
		}
		return nil, nil
	}})
	before, after, _ := ix.ReplaceItems([]object.Item[*obj]{item("a/listed", "u", "9")}, nil, "")
	if got := fmt.Sprint(before.ListKeys(), after.ListKeys()); got != "[a/extra] [a/listed]" {
		t.Errorf("before and after: %s", got)
	}
}

// S9: an index that is being built is not there yet, on any way to read it.
func TestIndexBeingBuiltIsUnknown(t *testing.T) {
	ix := New[*obj](nil)
	_ = ix.Add(item("a/x", "u", "1").Object)
	asked := 0
	fn := func(o *obj) ([]string, error) {
		if asked++; o.Name == "x" {
			_ = ix.Add(item("a/y", "u", strconv.Itoa(asked)).Object) // drops the cached snapshot
			for _, reader := range []func() Reader[*obj]{
				func() Reader[*obj] { return ix },
				func() Reader[*obj] { return ix.Snapshot() },
			} {
				r := reader()
				if _, err := r.ByIndex("late", "v"); !errors.As(err, new(*UnknownIndexError)) {
					t.Errorf("%T: %v", r, err)
				}
			}
			if len(ix.GetIndexers()) != 0 {
				t.Error("GetIndexers shows it")
			}
			if err := ix.AddIndexers(Indexers[*obj]{"late": testIndexers["ip"]}); !errors.As(err, new(*AddIndexersError)) {
				t.Errorf("its name is free: %v", err)
			}
		}
		return []string{"v"}, nil
	}
	if err := ix.AddIndexers(Indexers[*obj]{"late": fn}); err != nil {
		t.Fatal(err)
	}
	if got, err := ix.ByIndex("late", "v"); len(got) != 2 || err != nil || asked != 2 {
		t.Errorf("%d objects after %d calls, %v", len(got), asked, err)
	}
}

// Exact costs, in allocations: a commit of one operation is the entry and the
// list of changes; a new object with one index value, its values as well.
func TestAllocations(t *testing.T) {
	ix := New(Indexers[*obj]{"ip": func(o *obj) ([]string, error) { return o.Tags, nil }})
	items := make([]object.Item[*obj], 1000)
	for i := range items {
		items[i] = item(fmt.Sprintf("ns/n%04d", i), "u", "1")
		items[i].Object.Tags = []string{strconv.Itoa(i)}
	}
	ix.ReplaceItems(items, nil, "")
	var b Batch[*obj]
	versions := [2]string{"2", "3"}
	rv := 0
	update := func() {
		rv++
		it := items[rv%len(items)]
		it.ResourceVersion = versions[rv/len(items)%2]
		b.Reset()
		b.Set(it)
		ix.Commit(&b, "")
	}
	key := items[500].Key.String()
	s := ix.Snapshot()
	for range 3 * len(items) {
		update()
	}
	for _, tt := range []struct {
		name string
		do   func()
		want float64
	}{
		{"update, no index value changed", update, 2},
		{"nothing to do", func() { ix.Commit(&b, "") }, 0},
		{"lookup", func() { _, _, _ = ix.GetByKey(key) }, 0},
		{"lookup in a snapshot", func() { _, _, _ = s.GetByKey(key) }, 0},
		{"query with one result", func() { _, _ = ix.ByIndex("ip", "7") }, 1},
		{"list of an unchanged store", func() { s.List() }, 1},
		{"differences of the same", func() {
			for range Diff(s, s) {
				t.Fatal("differs")
			}
		}, 0},
	} {
		if got := testing.AllocsPerRun(500, tt.do); got > tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.name, got, tt.want)
		}
	}
}
