package indexer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"informer.example/object"
)

func commit(ix *Indexer[*obj], do func(b *Batch[*obj])) Result[*obj] {
	var b Batch[*obj]
	do(&b)
	return ix.Commit(&b, "")
}

func TestCommitOne(t *testing.T) {
	type batch = *Batch[*obj]
	del := func(uid string) object.Item[*obj] {
		it := item("a/x", uid, "9")
		it.Object = nil
		return it
	}
	// The store holds a/x with UID u and resourceVersion 5.
	for _, tt := range []struct {
		name  string
		do    func(b batch)
		want  string // changes: type, with the versions of old and new
		stale int
		why   string
	}{
		{"set older", func(b batch) { b.Set(item("a/x", "u", "4")) }, "Updated 5 4", 0, "a list is right, whatever its number (a rollback)"},
		{"set same", func(b batch) { b.Set(item("a/x", "u", "5")) }, "", 1, "nothing to tell"},
		{"set same number, other UID", func(b batch) { b.Set(item("a/x", "v", "5")) }, "Deleted 5, Added 5", 0, "another object"},
		{"set same number, no UID", func(b batch) { b.Set(item("a/x", "", "5")) }, "Updated 5 5", 0, "no UID is no proof of another object, nor of the same"},
		{"set without version", func(b batch) { b.Set(item("a/x", "u", "")) }, "Updated 5 ", 0, "it can't be known to be the same"},
		{"newer", func(b batch) { b.SetNewer(item("a/x", "u", "6")) }, "Updated 5 6", 0, "the usual event"},
		{"newer in digits", func(b batch) { b.SetNewer(item("a/x", "u", "10")) }, "Updated 5 10", 0, "numbers are not compared as text"},
		{"not newer", func(b batch) { b.SetNewer(item("a/x", "u", "4")) }, "", 1, "an event said again"},
		{"newer, same", func(b batch) { b.SetNewer(item("a/x", "u", "5")) }, "", 1, "an event said again"},
		{"newer, incomparable", func(b batch) { b.SetNewer(item("a/x", "u", "x4")) }, "Updated 5 x4", 0, "equality is all that can be asked of such versions"},
		{"newer, other UID", func(b batch) { b.SetNewer(item("a/x", "v", "4")) }, "Deleted 5, Added 4", 0, "only versions of one object are compared"},
		{"delete", func(b batch) { b.Delete(item("a/x", "u", "6")) }, "Deleted 5 final 6", 0, "the deletion's own state is Final"},
		{"delete, no object", func(b batch) { b.Delete(del("u")) }, "Deleted 5", 0, "Final is not known"},
		{"delete, no UID", func(b batch) { b.Delete(del("")) }, "Deleted 5", 0, "whatever is stored"},
		{"delete, other UID", func(b batch) { b.Delete(del("t")) }, "", 1, "the object before the stored one"},
		{"delete unknown", func(b batch) { b.Delete(item("a/y", "u", "6")) }, "", 0, "nothing to delete"},
		{"nothing", func(b batch) {}, "", 0, "an empty batch"},
		{"in order", func(b batch) {
			b.Set(item("a/x", "u", "6"))
			b.Delete(del("u"))
			b.Set(item("a/x", "v", "8"))
			b.SetNewer(item("a/x", "v", "7"))
		}, "Updated 5 6, Deleted 6, Added 8", 1, "one key several times"},
		{"order of operations", func(b batch) { b.Set(item("b/1", "", "7")); b.Set(item("a/1", "", "8")) }, "Added 7, Added 8", 0, "not of keys"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := New(testIndexers)
			commit(ix, func(b batch) { b.Set(item("a/x", "u", "5")) })
			r := commit(ix, tt.do)
			var got []string
			for _, c := range r.Changes {
				s := c.Type.String()
				for _, it := range []*object.Item[*obj]{c.Old, c.New} {
					if it != nil {
						s += " " + it.ResourceVersion
					}
				}
				if c.Final != nil {
					s += " final " + c.Final.ResourceVersion
				}
				got = append(got, s)
			}
			if strings.Join(got, ", ") != tt.want || r.Stale != tt.stale {
				t.Errorf("changes %q, stale %d; want %q, %d: %s", got, r.Stale, tt.want, tt.stale, tt.why)
			}
			if want := 1 + min(1, uint64(len(got))); r.Sequence != want {
				t.Errorf("sequence %d, want %d", r.Sequence, want) // S7
			}
			checkInvariants(t, ix)
		})
	}
}

func TestResourceVersionAndSequence(t *testing.T) {
	ix := New(testIndexers)
	for _, tt := range []struct {
		do       func()
		rv       string
		sequence uint64
		why      string
	}{
		{func() {}, "", 0, "nothing was said yet"},
		{func() { ix.SetResourceVersion("3") }, "3", 1, "a bookmark"},
		{func() { ix.SetResourceVersion("3") }, "3", 1, "the same bookmark"},
		{func() { ix.SetResourceVersion("") }, "3", 1, "no version is not a version"},
		{func() { ix.Commit(&Batch[*obj]{}, "4") }, "4", 2, "a commit of the version alone"},
		{func() { ix.ReplaceItems(nil, nil, "") }, "4", 2, "an empty list of an empty store"},
		{func() { ix.ReplaceItems(nil, nil, "5") }, "5", 3, "a list with nothing new but its version"},
		{func() { ix.SetResourceVersion("2") }, "2", 4, "the caller decides what goes backwards"},
		{func() { _ = ix.Replace([]*obj{item("a/x", "u", "1").Object}, "6") }, "6", 5, "one commit for both"},
		{func() { _ = ix.Delete(item("a/x", "other", "1").Object) }, "6", 6, "verbs keep the version"},
	} {
		tt.do()
		if s := ix.Snapshot(); ix.ResourceVersion() != tt.rv || s.ResourceVersion() != tt.rv || ix.Sequence() != tt.sequence || s.Sequence() != tt.sequence {
			t.Fatalf("version %q, sequence %d; want %q, %d: %s", ix.ResourceVersion(), ix.Sequence(), tt.rv, tt.sequence, tt.why)
		}
	}
}

// S7: the snapshot of an unchanged store is the same one, so lists of it make
// the writer copy nothing.
func TestSnapshotIsCached(t *testing.T) {
	ix := New(testIndexers)
	commit(ix, func(b *Batch[*obj]) { b.Set(item("a/x", "u", "5")) })
	s := ix.Snapshot()
	ix.List()
	commit(ix, func(b *Batch[*obj]) { b.Set(item("a/x", "u", "5")); b.Delete(item("a/y", "", "")) })
	if before, after, _ := ix.ReplaceItems(slices.Collect(values1(s)), nil, ""); before != s || after != s || ix.Snapshot() != s {
		t.Error("another snapshot, though nothing has changed")
	}
}

func values1(s *Snapshot[*obj]) func(func(object.Item[*obj]) bool) {
	return func(yield func(object.Item[*obj]) bool) {
		for it := range s.Items() {
			if !yield(*it) {
				return
			}
		}
	}
}

func TestReplaceItems(t *testing.T) {
	ix := New(testIndexers)
	calls := 0
	if err := ix.AddIndexers(Indexers[*obj]{"calls": func(*obj) ([]string, error) { calls++; return nil, nil }}); err != nil {
		t.Fatal(err)
	}
	ix.ReplaceItems([]object.Item[*obj]{
		item("a/gone", "1", "1"), item("a/kept", "2", "2"), item("a/same", "3", "3"), item("a/stale", "4", "4"), item("a/twin", "5", "5"), item("b/reborn", "6", "6"),
	}, nil, "10")
	same, _ := ix.Item(object.Key{Namespace: "a", Name: "same"})
	calls = 0
	// Not in order, with doubles.
	list := []object.Item[*obj]{
		item("b/reborn", "7", "17"), item("a/new", "8", "12"), item("a/new", "8", "13"), item("a/new", "8", "11"), item("a/same", "3", "3"),
		item("a/odd", "9", "x"), item("a/odd", "9", "y"), item("a/stale", "4", "14"), item("a/twin", "5", "5"),
	}
	given := slices.Clone(list)
	keep := []object.Key{{Namespace: "a", Name: "stale"}, {Namespace: "a", Name: "kept"}, {Namespace: "z", Name: "never"}}
	before, after, errs := ix.ReplaceItems(list, keep, "20")
	if len(errs) != 0 || !slices.Equal(list, given) || keep[0].Name != "stale" {
		t.Fatal("errors, or the caller's slices were changed")
	}
	var got []string
	for c := range Diff(before, after) {
		s := fmt.Sprint(c.Type, " ", c.Key())
		if c.New != nil {
			s += " " + c.New.ResourceVersion
		}
		got = append(got, s)
	}
	want := []string{"Deleted a/gone", "Added a/new 13", "Added a/odd y", "Deleted b/reborn", "Added b/reborn 17"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if now, _ := ix.Item(same.Key); now.Object != same.Object {
		t.Error("an unchanged version took the place of the stored object")
	}
	if calls != 3 {
		t.Errorf("%d calls of an index function, want 3: new, odd, reborn", calls)
	}
	if before.ResourceVersion() != "10" || after.ResourceVersion() != "20" || after.Sequence() != before.Sequence()+1 {
		t.Error("not one commit")
	}
	checkInvariants(t, ix)
}

// S3, and the order of keys where it is surprising.
func TestRanges(t *testing.T) {
	ix := New[*obj](nil)
	for _, key := range []string{"a/x", "a/y1", "a/y2", "a-b/x", "a.b/y", "ab/y", "a", "b", "y1", "b/x", "bb"} {
		_ = ix.Add(item(key, "", "1").Object)
	}
	s := ix.Snapshot()
	for _, tt := range []struct{ namespace, prefix, want, why string }{
		{"a", "", "a/x a/y1 a/y2", "not a-b, a.b or ab"},
		{"a", "y", "a/y1 a/y2", "a part of the namespace"},
		{"a", "y1", "a/y1", "a whole name"},
		{"a", "z", "", "past the end"},
		{"a-b", "", "a-b/x", "'-' sorts before '/'"},
		{"c", "", "", "no such namespace"},
		{"", "", "a b bb y1", "the cluster-scoped objects, which lie among the others"},
		{"", "b", "b bb", "a prefix of theirs"},
	} {
		var got []string
		for k, o := range s.Prefix(tt.namespace, tt.prefix) {
			if o.Name != k.Name {
				t.Fatal("another object's key")
			}
			got = append(got, k.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q %q: %q, want %q: %s", tt.namespace, tt.prefix, got, tt.want, tt.why)
		}
	}
	if !slices.IsSorted(s.ListKeys()) {
		t.Errorf("%q are not in the server's order", s.ListKeys())
	}
	// Slashes in names put strangers into a namespace's range.
	odd := New(nil, WithKeyFunc(func(o *obj) (object.Key, error) {
		return object.Key{Namespace: o.Node, Name: o.IP}, nil
	}))
	for _, k := range []object.Key{{Namespace: "a", Name: "b"}, {Name: "a/b"}, {Namespace: "a/b", Name: "c"}, {Namespace: "a", Name: "c"}} {
		_ = odd.Add(&obj{Node: k.Namespace, IP: k.Name})
	}
	n := 0
	for range odd.Snapshot().Namespace("a") {
		n++
	}
	if n != 2 {
		t.Errorf("%d objects in namespace a, want 2", n)
	}
	// Loops may end early.
	for range s.All() {
		break
	}
	for range s.Items() {
		break
	}
	for range s.Namespace("a") {
		break
	}
	for range Diff(nil, s) {
		break
	}
	for range Diff(s, nil) {
		break
	}
}

func TestBadKeys(t *testing.T) {
	ix := New[*obj](nil)
	ok := item("a/x", "", "1").Object
	_ = ix.Add(ok)
	sequence := ix.Sequence()
	for i, call := range []func() error{
		func() error { return ix.Add(nil) },
		func() error { return ix.Update(&obj{}) },
		func() error { return ix.Delete(nil) },
		func() error { return ix.Replace([]*obj{ok, nil}, "9") },
		func() error { _, _, err := ix.Get(nil); return err },
		func() error { _, _, err := ix.GetByKey(""); return err },
		func() error { _, _, err := ix.GetByKey("a/b/c"); return err },
		func() error { _, _, err := ix.Snapshot().GetByKey("/c"); return err },
		func() error { _, _, err := ix.Snapshot().Get(&obj{}); return err },
	} {
		var bad *object.KeyError
		if err := call(); !errors.As(err, &bad) {
			t.Errorf("%d: %v is no KeyError", i, err)
		}
	}
	if ix.Sequence() != sequence || ix.Len() != 1 || ix.ResourceVersion() != "" {
		t.Error("a call that failed has changed the store")
	}
	if got, found, err := ix.Get(ok); got != ok || !found || err != nil {
		t.Error(found, err)
	}
	if _, found, err := ix.GetByKey("b"); found || err != nil {
		t.Error(found, err)
	}
}

// An object of the user's own, and Reset, hold on to nothing.
func TestBatchReset(t *testing.T) {
	ix := New(testIndexers)
	var b Batch[*obj]
	for i := range 3 {
		b.Set(item(fmt.Sprintf("a/%d", i), "", "1"))
	}
	ix.Commit(&b, "")
	b.Reset()
	if b.Len() != 0 {
		t.Error("not empty")
	}
	for _, o := range b.ops[:cap(b.ops)] {
		if o.item.Object != nil {
			t.Fatal("holds on to an object")
		}
	}
	if r := ix.Commit(&b, ""); len(r.Changes) != 0 || ix.Len() != 3 {
		t.Error("did its work again")
	}
}
