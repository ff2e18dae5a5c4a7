package indexer

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

// obj is an object with a few things to index.
type obj struct {
	metav1.ObjectMeta
	IP, Node string
	Tags     []string
	Fails    bool // the index "tags" returns an error
	Panics   bool // the index "tags" panics
}

var errTags = errors.New("no tags today")

var testIndexers = Indexers[*obj]{
	"ip":   SimpleIndex(func(o *obj) string { return o.IP }),
	"node": SimpleIndex(func(o *obj) string { return o.Node }),
	"tags": func(o *obj) ([]string, error) {
		if o.Panics {
			panic("tags!")
		}
		if o.Fails {
			return []string{"half"}, errTags
		}
		return o.Tags, nil
	},
}

func item(key, uid, rv string) object.Item[*obj] {
	k, err := object.ParseKey(key)
	if err != nil {
		panic(err)
	}
	return object.Item[*obj]{Key: k, UID: types.UID(uid), ResourceVersion: rv, Object: &obj{ObjectMeta: metav1.ObjectMeta{
		Namespace: k.Namespace, Name: k.Name, UID: types.UID(uid), ResourceVersion: rv,
	}}}
}

// checkInvariants recounts everything that the store could get wrong: the
// trees (S3), and each index from the objects (S4). It takes the objects to be
// as they were when they were stored.
func checkInvariants(t testing.TB, ix *Indexer[*obj]) {
	t.Helper()
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	checkTree(t, ix.order.view)
	checkTable(t, &ix.table)
	if ix.turn.Load()%2 != 0 {
		t.Fatal("a commit has left the turn odd")
	}
	set := ix.set.Load()
	var entries []*entry[*obj]
	for at := range ix.order.all() {
		e := ix.table.get(at.id)
		if e == nil || e != ix.keys.find(at.key) || e.slot != at || e.item.Key != at.key || e.hash != ix.keys.hash(at.key) {
			t.Fatalf("%s: order, keys and table disagree", at.key)
		}
		if e.generation > set.generation {
			t.Fatalf("%s has values of generation %d, the set has %d", at.key, e.generation, set.generation)
		}
		entries = append(entries, e)
	}
	if n := len(entries); ix.keys.len != n || int(ix.table.next)-len(ix.table.free) != n {
		t.Fatalf("%d objects, %d keys, %d of %d ids free", n, ix.keys.len, len(ix.table.free), ix.table.next)
	}
	for _, x := range set.list {
		checkTree(t, x.tree.view)
		want := map[posting[*obj]]bool{}
		early, left := 0, 0
		for _, e := range entries {
			vals, err := callIndexFunc(x.fn, e.item.Object)
			if err != nil {
				left++
			}
			if o := e.item.Object; x.name == "tags" && (o.Fails || o.Panics) {
				vals = nil
			}
			for _, v := range vals {
				want[posting[*obj]{v, e.slot}] = true
			}
			if (len(vals) > 0 || err != nil) && e.generation < x.born {
				early++
			}
		}
		if x.left != left {
			t.Fatalf("index %s counts %d objects that it lacks, want %d", x.name, x.left, left)
		}
		if len(x.early) != early {
			t.Fatalf("index %s remembers %d early objects, want %d", x.name, len(x.early), early)
		}
		for p := range x.tree.all() {
			if !want[p] {
				t.Fatalf("index %s holds %s under %q", x.name, p.slot.key, p.value)
			}
			delete(want, p)
		}
		for p := range want {
			t.Fatalf("index %s lacks %s under %q", x.name, p.slot.key, p.value)
		}
	}
}

// world is a store beside the plain map that it must equal.
type world struct {
	t     testing.TB
	r     *rand.Rand
	ix    *Indexer[*obj]
	items map[object.Key]object.Item[*obj]
	rv    int
	saved []saved
	batch Batch[*obj]
}

type saved struct {
	snap  *Snapshot[*obj]
	items map[object.Key]object.Item[*obj]
}

func (w *world) item() object.Item[*obj] {
	w.rv++
	it := item(fmt.Sprintf("ns%d/n%03d", w.r.IntN(5), w.r.IntN(60)), "", strconv.Itoa(w.rv))
	if old, ok := w.items[it.Key]; ok && w.r.IntN(8) > 0 {
		it.UID = old.UID
	} else {
		it.UID = types.UID("u" + it.ResourceVersion)
	}
	o := it.Object
	o.UID = it.UID
	o.IP = fmt.Sprint(w.r.IntN(100))
	o.Node = []string{"", "a", "b"}[w.r.IntN(3)]
	for range w.r.IntN(4) {
		o.Tags = append(o.Tags, fmt.Sprint("t", w.r.IntN(6)))
	}
	o.Fails = w.r.IntN(20) == 0
	o.Panics = w.r.IntN(20) == 0
	return it
}

// step does one random thing to both, and checks what came back.
func (w *world) step() {
	t, before := w.t, w.ix.Snapshot()
	sequence, was := w.ix.Sequence(), maps.Clone(w.items)
	failures := 0
	put := func(it object.Item[*obj]) {
		w.items[it.Key] = it
		if it.Object.Fails || it.Object.Panics {
			failures++
		}
	}
	rv := strconv.Itoa(w.rv + 1)
	switch w.r.IntN(12) {
	case 0: // a list
		w.rv++
		var items []object.Item[*obj]
		next := map[object.Key]object.Item[*obj]{}
		for k, it := range w.items {
			switch w.r.IntN(10) {
			case 0: // gone
			case 1:
				n := w.item()
				n.Key, n.UID = k, it.UID
				n.Object.Namespace, n.Object.Name = k.Namespace, k.Name
				items = append(items, n)
			default:
				items = append(items, it)
			}
		}
		for range w.r.IntN(5) {
			items = append(items, w.item())
		}
		keep := []object.Key{{Namespace: "ns1", Name: "n001"}, {Namespace: "ns4", Name: "n059"}, {Namespace: "ns0", Name: "n000"}}
		for _, it := range items {
			if n, ok := next[it.Key]; !ok || !object.Newer(n.ResourceVersion, it.ResourceVersion) {
				next[it.Key] = it
			}
		}
		for _, k := range keep {
			delete(next, k)
			if it, ok := w.items[k]; ok {
				next[k] = it
			}
		}
		for k, it := range next {
			if old, ok := w.items[k]; ok && old.SameVersion(it) {
				next[k] = old
			} else if it.Object.Fails || it.Object.Panics {
				failures++
			}
		}
		failures *= w.hasTags()
		b, a, errs := w.ix.ReplaceItems(items, keep, rv)
		w.items = next
		if b != before || a != w.ix.Snapshot() || len(errs) != failures {
			t.Fatalf("replace: before %v, after %v, %d errors, want %d", b == before, a == w.ix.Snapshot(), len(errs), failures)
		}
	case 1:
		name := slices.Sorted(maps.Keys(testIndexers))[w.r.IntN(3)]
		if _, ok := w.ix.GetIndexers()[name]; ok {
			if err := w.ix.RemoveIndexer(name); err != nil {
				t.Fatal(err)
			}
		} else if err := w.ix.AddIndexers(Indexers[*obj]{name: testIndexers[name]}); err != nil && !errors.As(err, new(IndexErrors)) {
			t.Fatal(err)
		}
		return
	case 2: // the verbs
		it := w.item()
		if err := w.ix.Add(it.Object); err != nil && !errors.Is(err, errTags) && !errors.As(err, new(*PanicError)) {
			t.Fatal(err)
		}
		w.items[it.Key] = it
	case 3:
		it := w.item()
		w.ix.DeleteKey(it.Key)
		delete(w.items, it.Key)
	case 4:
		w.rv++
		w.ix.SetResourceVersion(rv)
		if w.ix.ResourceVersion() != rv {
			t.Fatal("no bookmark")
		}
	default:
		w.batch.Reset()
		for range w.r.IntN(6) {
			it := w.item()
			old, stored := w.items[it.Key]
			switch w.r.IntN(6) {
			case 0:
				w.batch.Set(old) // the zero item, if it isn't stored
				if !stored {
					w.batch.ops = w.batch.ops[:len(w.batch.ops)-1]
				}
			case 1, 2:
				del := object.Item[*obj]{Key: it.Key, UID: it.UID}
				w.batch.Delete(del)
				if stored && it.UID == old.UID {
					delete(w.items, it.Key)
				}
			case 3:
				if stored {
					late := item(it.Key.String(), string(old.UID), strconv.Itoa(1+w.r.IntN(w.rv)))
					if !object.Newer(late.ResourceVersion, old.ResourceVersion) {
						w.batch.SetNewer(late)
					}
				}
			case 4:
				w.batch.Set(it)
				put(it)
			default:
				w.batch.SetNewer(it)
				put(it)
			}
		}
		result := w.ix.Commit(&w.batch, "")
		if result.Sequence != w.ix.Sequence() {
			t.Fatal("sequence")
		}
		if got := w.tagErrors(result.Errors); got != failures*w.hasTags() {
			t.Fatalf("%d errors, want %d", got, failures)
		}
		w.replay(was, slices.Values(result.Changes))
	}
	if changed := before != w.ix.Snapshot(); w.ix.Sequence() != sequence+map[bool]uint64{true: 1}[changed] { // S7
		t.Fatalf("sequence went from %d to %d", sequence, w.ix.Sequence())
	}
}

func (w *world) hasTags() int {
	if _, ok := w.ix.GetIndexers()["tags"]; ok {
		return 1
	}
	return 0
}

func (w *world) tagErrors(errs []*IndexError) int {
	for _, e := range errs {
		if e.Index != "tags" || !errors.Is(e, errTags) && !errors.As(e, new(*PanicError)) {
			w.t.Fatal(e)
		}
	}
	return len(errs)
}

// replay does changes to a map, which must become what w says (S8).
func (w *world) replay(items map[object.Key]object.Item[*obj], changes func(func(Change[*obj]) bool)) {
	w.t.Helper()
	replay(w.t, items, w.items, changes)
}

func replay(t testing.TB, items, want map[object.Key]object.Item[*obj], changes func(func(Change[*obj]) bool)) {
	t.Helper()
	for c := range changes {
		old, stored := items[c.Key()]
		switch {
		case stored != (c.Type != Added), stored != (c.Old != nil), (c.New == nil) != (c.Type == Deleted):
			t.Fatalf("%s of %s, which is stored: %v", c.Type, c.Key(), stored)
		case stored && old != *c.Old:
			t.Fatalf("%s of %s: old is %v, want %v", c.Type, c.Key(), *c.Old, old)
		case c.Type == Deleted:
			delete(items, c.Key())
		case c.Type == Updated && recreated(c.Old, c.New):
			t.Fatalf("%s was updated to another UID", c.Key())
		default:
			items[c.Key()] = *c.New
		}
	}
	if !maps.Equal(items, want) {
		t.Fatalf("changes lead to %d items, want %d", len(items), len(want))
	}
}

// checkSnapshot compares every answer of a snapshot with the map.
func checkSnapshot(t testing.TB, s Reader[*obj], items map[object.Key]object.Item[*obj]) {
	t.Helper()
	keys := slices.SortedFunc(maps.Keys(items), object.Key.Compare)
	if s.Len() != len(keys) || len(s.List()) != len(keys) {
		t.Fatalf("%d objects, want %d", s.Len(), len(keys))
	}
	for i, o := range s.List() {
		if o != items[keys[i]].Object {
			t.Fatalf("object %d is not %s", i, keys[i])
		}
	}
	for i, k := range s.ListKeys() {
		if k != keys[i].String() {
			t.Fatalf("key %d is %s, not %s", i, k, keys[i])
		}
	}
	for _, k := range keys {
		if got, ok := s.Item(k); !ok || got != items[k] {
			t.Fatalf("item %s: %v", k, got)
		}
	}
	for _, v := range []string{"t0", "t3", "none"} {
		var want []*obj
		for _, k := range keys {
			if o := items[k].Object; !o.Fails && !o.Panics && slices.Contains(o.Tags, v) {
				want = append(want, o)
			}
		}
		got, err := s.ByIndex("tags", v)
		if err == nil && !slices.Equal(got, want) {
			t.Fatalf("tag %s: %d objects, want %d", v, len(got), len(want))
		}
	}
}

func runWorld(t testing.TB, seed uint64, steps int) {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), ix: New(testIndexers), items: map[object.Key]object.Item[*obj]{}}
	for range steps {
		w.step()
		checkInvariants(t, w.ix)
		if w.r.IntN(10) == 0 && len(w.saved) < 10 {
			w.saved = append(w.saved, saved{w.ix.Snapshot(), maps.Clone(w.items)})
		}
	}
	checkSnapshot(t, w.ix, w.items)
	w.saved = append(w.saved, saved{w.ix.Snapshot(), w.items}, saved{nil, map[object.Key]object.Item[*obj]{}})
	for _, a := range w.saved {
		if a.snap != nil {
			checkSnapshot(t, a.snap, a.items) // S1
		}
		for _, b := range w.saved {
			replay(t, maps.Clone(a.items), b.items, Diff(a.snap, b.snap))
		}
	}
}

// The whole store against a map: S1 to S5, S7, S8, S10.
func TestStoreAgainstMap(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runWorld(t, seed, 200) })
	}
}

func FuzzStore(f *testing.F) {
	f.Add(uint64(1), uint16(50))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) { runWorld(t, seed, int(steps)%400) })
}
