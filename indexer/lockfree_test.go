package indexer

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"informer.example/object"
)

// S2 for single lookups, which take no lock: every commit writes two objects in
// one version, so whoever reads one and then the other must not go back in time.
func TestLookupsSeeWholeCommits(t *testing.T) {
	ix := New(Indexers[*obj]{})
	a, b := item("ns/a", "u", "0"), item("ns/b", "u", "0")
	write := func(n int) {
		a.ResourceVersion, b.ResourceVersion = strconv.Itoa(n), strconv.Itoa(n)
		var batch Batch[*obj]
		batch.Set(a)
		for i := range 50 { // time in which half of the commit can be seen
			batch.Set(item("ns/x"+strconv.Itoa(i), "u", strconv.Itoa(n)))
		}
		batch.Set(b)
		ix.Commit(&batch, "")
	}
	write(0)
	version := func(key object.Key) int {
		it, ok := ix.Item(key)
		n, err := strconv.Atoi(it.ResourceVersion)
		if !ok || err != nil {
			t.Errorf("%v: %v, %v", key, ok, err)
		}
		return n
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				first := version(a.Key)
				if second := version(b.Key); second < first {
					t.Errorf("saw a at %d, then b at %d: half of a commit", first, second)
					return
				}
			}
		})
	}
	for n := range 100 {
		write(n)
	}
	done.Store(true)
	wg.Wait()
}

// A snapshot finds its keys by the present map, which is a hint only: the key
// may have been deleted since, or be in another slot, or its id be another
// key's.
func TestSnapshotFindsKeysThatMoved(t *testing.T) {
	ix := New(Indexers[*obj]{})
	put := func(key, rv string) { _ = ix.Add(item(key, "u"+rv, rv).Object) }
	put("ns/a", "1")
	put("ns/b", "2")
	old := ix.Snapshot()
	ix.DeleteKey(object.Key{Namespace: "ns", Name: "a"})
	ix.DeleteKey(object.Key{Namespace: "ns", Name: "b"})
	put("ns/c", "3") // in one of their ids
	put("ns/a", "4") // in the other's, in a new slot
	for key, want := range map[string]string{"ns/a": "1", "ns/b": "2", "ns/c": ""} {
		got, ok, _ := old.GetByKey(key)
		if ok != (want != "") || ok && got.ResourceVersion != want {
			t.Errorf("%s in the old snapshot: %v, %v; want version %q", key, got, ok, want)
		}
	}
	var changes []string
	for c := range Diff(old, ix.Snapshot()) {
		changes = append(changes, c.Type.String()+" "+c.Key().String())
	}
	if got, want := len(changes), 4; got != want { // a deleted and added, b deleted, c added
		t.Errorf("differences %v, want %d", changes, want)
	}
}
