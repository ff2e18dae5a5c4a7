package indexer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// S5, S10.
func TestIndexFuncFails(t *testing.T) {
	ix := New(Indexers[*obj]{"ip": testIndexers["ip"], "tags": testIndexers["tags"], "none": nil})
	it := item("a/x", "u", "1")
	it.Object.IP, it.Object.Tags = "1", []string{"t", "s", "t"}
	r := commit(ix, func(b *Batch[*obj]) { b.Set(it) })
	if len(r.Errors) != 1 || r.Errors[0].Index != "none" || r.Errors[0].Key != it.Key {
		t.Fatal(r.Errors)
	}
	if err := ix.RemoveIndexer("none"); err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, ix)
	if got := ix.ListIndexFuncValues("tags"); !slices.Equal(got, []string{"s", "t"}) {
		t.Fatalf("%q: a value twice, or out of order", got)
	}
	for rv, spoil := range map[string]func(o *obj){"2": func(o *obj) { o.Fails = true }, "3": func(o *obj) { o.Panics = true }} {
		bad := item("a/x", "u", rv)
		bad.Object.IP = "1"
		spoil(bad.Object)
		err := ix.Update(bad.Object)
		var errs IndexErrors
		var one *IndexError
		if !errors.As(err, &errs) || !errors.As(err, &one) || one.Index != "tags" || strings.Contains(err.Error(), "goroutine") {
			t.Fatalf("%v", err)
		}
		if rv == "2" && !errors.Is(err, errTags) {
			t.Errorf("%v hides what the function returned", err)
		}
		if now, ok, _ := ix.GetByKey("a/x"); !ok || now != bad.Object {
			t.Error("the object is not stored")
		}
		if got := ix.ListIndexFuncValues("tags"); len(got) != 0 {
			t.Errorf("still under %q", got)
		}
		if got, _ := ix.ByIndex("ip", "1"); len(got) != 1 {
			t.Error("lost from an index whose function works")
		}
		checkInvariants(t, ix)
	}
	ix.DeleteKey(it.Key)
	if ix.Len() != 0 || len(ix.ListIndexFuncValues("ip")) != 0 {
		t.Error("not deleted")
	}
}

// S5: an object that someone has changed in the store leaves every index that
// it was put into.
func TestDeleteGoesByRememberedValues(t *testing.T) {
	for _, late := range []bool{false, true} {
		ix := New[*obj](nil)
		if !late {
			_ = ix.AddIndexers(testIndexers)
		}
		it := item("a/x", "u", "1")
		it.Object.IP, it.Object.Tags = "1", []string{"t"}
		commit(ix, func(b *Batch[*obj]) { b.Set(it) })
		if late {
			_ = ix.AddIndexers(testIndexers)
		}
		it.Object.IP, it.Object.Tags, it.Object.Panics = "2", nil, true
		ix.DeleteKey(it.Key)
		for name := range testIndexers {
			if got := ix.ListIndexFuncValues(name); len(got) != 0 {
				t.Errorf("index %s (late %v) still holds %q", name, late, got)
			}
		}
		checkInvariants(t, ix)
	}
}

// Short-lived values leave nothing behind.
func TestIndexShrinks(t *testing.T) {
	ix := New(testIndexers)
	for i := range 2000 {
		it := item(fmt.Sprintf("ns%d/x", i), "u", "1")
		it.Object.IP = fmt.Sprint(i)
		_ = ix.Add(it.Object)
		ix.DeleteKey(it.Key)
	}
	for _, x := range ix.set.Load().list {
		if x.tree.root != nil || x.tree.len != 0 {
			t.Errorf("index %s is not empty", x.name)
		}
	}
	if ix.order.root != nil {
		t.Error("the tree of slots is not empty")
	}
}

func TestAddIndexersFailsAsAWhole(t *testing.T) {
	ix := New(Indexers[*obj]{"ip": testIndexers["ip"]})
	_ = ix.Add(item("a/x", "u", "1").Object)
	for _, tt := range []struct {
		add       Indexers[*obj]
		name, why string
	}{
		{Indexers[*obj]{"a": testIndexers["tags"], "ip": testIndexers["ip"]}, "ip", "the name is taken"},
		{Indexers[*obj]{"a": testIndexers["tags"], "b": nil}, "b", "no function"},
	} {
		err := ix.AddIndexers(tt.add)
		var add *AddIndexersError
		if !errors.As(err, &add) || add.Name != tt.name {
			t.Errorf("%v, want an error about %s: %s", err, tt.name, tt.why)
		}
		if _, err := ix.ByIndex("a", "x"); err == nil {
			t.Errorf("an index was added: %s", tt.why)
		}
	}
	if err := ix.AddIndexers(nil); err != nil {
		t.Error(err)
	}
	// The caller's map stays the caller's.
	mine := Indexers[*obj]{"node": testIndexers["node"]}
	if err := ix.AddIndexers(mine); err != nil {
		t.Fatal(err)
	}
	mine["tags"], ix.GetIndexers()["tags"] = testIndexers["tags"], testIndexers["tags"]
	if got := len(ix.GetIndexers()); got != 2 {
		t.Errorf("%d indexes, want 2", got)
	}
	checkInvariants(t, ix)
}

func TestUnknownIndex(t *testing.T) {
	ix := New(testIndexers)
	want := []string{"ip", "node", "tags"}
	s := ix.Snapshot()
	for i, call := range []func() error{
		func() error { _, err := ix.ByIndex("x", ""); return err },
		func() error { _, err := ix.IndexKeys("x", ""); return err },
		func() error { _, err := ix.Index("x", &obj{}); return err },
		func() error { _, err := s.ByIndex("x", ""); return err },
		func() error { return ix.RemoveIndexer("x") },
	} {
		var unknown *UnknownIndexError
		if err := call(); !errors.As(err, &unknown) || unknown.Name != "x" || !slices.Equal(unknown.Known, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got := ix.ListIndexFuncValues("x"); got != nil {
		t.Errorf("%q", got)
	}
	// A snapshot keeps the index that was removed since, and lacks a later one.
	if err := ix.RemoveIndexer("ip"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ByIndex("ip", ""); err != nil {
		t.Error(err)
	}
	if _, err := ix.ByIndex("ip", ""); err == nil || !strings.Contains(err.Error(), "node, tags") {
		t.Error(err)
	}
}

func TestIndexOfObject(t *testing.T) {
	ix := New(testIndexers)
	for i, tags := range [][]string{{"a", "b"}, {"b"}, {"c"}, {"a"}} {
		it := item(fmt.Sprintf("ns/n%d", 9-i), "u", "1")
		it.Object.Tags = tags
		_ = ix.Add(it.Object)
	}
	for _, tt := range []struct {
		tags []string
		want string
		why  string
	}{
		{[]string{"b"}, "n8 n9", "one value"},
		{[]string{"b", "a", "b"}, "n6 n8 n9", "several: the union, each object once, in order"},
		{nil, "", "no value"},
		{[]string{"z"}, "", "a value that nobody has"},
	} {
		got, err := ix.Index("tags", &obj{Tags: tt.tags})
		var names []string
		for _, o := range got {
			names = append(names, o.Name)
		}
		if err != nil || strings.Join(names, " ") != tt.want {
			t.Errorf("%q, %v; want %q: %s", names, err, tt.want, tt.why)
		}
	}
	var one *IndexError
	if _, err := ix.Index("tags", &obj{Panics: true}); !errors.As(err, &one) {
		t.Errorf("%v", err)
	}
	if keys, _ := ix.IndexKeys("tags", "a"); !slices.Equal(keys, []string{"ns/n6", "ns/n9"}) {
		t.Errorf("%q", keys)
	}
}

// A query with few results reads the live trees, one with many a snapshot:
// the answers are the same.
func TestByIndexOfAnySize(t *testing.T) {
	ix := New(testIndexers)
	for i := range 40 {
		it := item(fmt.Sprintf("ns/n%02d", i), "u", "1")
		it.Object.Node = "n"
		commit(ix, func(b *Batch[*obj]) { b.Set(it) })
		if got, err := ix.ByIndex("node", "n"); err != nil || len(got) != i+1 || got[i] != it.Object {
			t.Fatalf("%d objects, %v; want %d", len(got), err, i+1)
		}
	}
}
