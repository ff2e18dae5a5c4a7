package indexer

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

const benchObjects = 50_000

// benchItems has names such as a cluster has: few namespaces, long common
// prefixes. The order is the server's.
func benchItems(n int) []object.Item[*obj] {
	r := rand.New(rand.NewPCG(1, 1))
	items := make([]object.Item[*obj], n)
	for i := range items {
		o := &obj{ObjectMeta: metav1.ObjectMeta{
			Namespace:       fmt.Sprintf("team-%02d-production", r.IntN(40)),
			Name:            fmt.Sprintf("web-frontend-%d-%08x-%05x", r.IntN(400), r.Uint32(), i),
			UID:             types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i)),
			ResourceVersion: strconv.Itoa(1000 + i),
		}, IP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Node: fmt.Sprintf("node-%03d", i%(n/200+1))}
		items[i], _ = object.NewItem(o, nil)
	}
	return inOrder(items)
}

func benchStore(b testing.TB, n int) (*Indexer[*obj], []object.Item[*obj]) {
	ix := New(Indexers[*obj]{"ip": SimpleIndex(func(o *obj) string { return o.IP }), "node": SimpleIndex(func(o *obj) string { return o.Node })})
	items := benchItems(n)
	ix.ReplaceItems(items, nil, "1")
	return ix, items
}

// What does a lookup cost, on the live store and on a snapshot?
func BenchmarkGetByKey(b *testing.B) {
	ix, items := benchStore(b, benchObjects)
	keys := make([]string, len(items))
	for i := range keys {
		keys[i] = items[i].Key.String()
	}
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	run := func(b *testing.B, get func(string) (*obj, bool, error)) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, ok, _ := get(keys[i%len(keys)]); !ok {
				b.Fatal("not found")
			}
		}
	}
	b.Run("snapshot", func(b *testing.B) { run(b, ix.Snapshot().GetByKey) })
	b.Run("live", func(b *testing.B) { ix.SetResourceVersion(ix.ResourceVersion() + "0"); run(b, ix.GetByKey) })
	b.Run("one key", func(b *testing.B) { keys = keys[:1]; run(b, ix.GetByKey) })
}

// What does one list of 10,000 cost?
func BenchmarkList(b *testing.B) {
	ix, _ := benchStore(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if len(ix.List()) != 10_000 {
			b.Fatal("short list")
		}
	}
}

// What does a query with 1 and with 200 results cost?
func BenchmarkByIndex(b *testing.B) {
	ix, items := benchStore(b, 10_000)
	run := func(name, value string, want int) {
		b.Run(fmt.Sprint(want), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, _ := ix.ByIndex(name, value); len(got) < want-5 {
					b.Fatal("short result: ", len(got))
				}
			}
		})
	}
	run("ip", items[5000].Object.IP, 1)
	run("node", items[5000].Object.Node, 200)
}

// What does one update cost, with and without a snapshot taken before each,
// when index values stay, and when one changes?
func BenchmarkCommit(b *testing.B) {
	for _, live := range []bool{false, true} {
		for _, move := range []bool{false, true} {
			b.Run(fmt.Sprintf("snapshot=%v/move=%v", live, move), func(b *testing.B) {
				ix, items := benchStore(b, benchObjects)
				r := rand.New(rand.NewPCG(2, 2))
				var batch Batch[*obj]
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					it := items[r.IntN(len(items))]
					it.ResourceVersion = strconv.Itoa(1_000_000 + i)
					if move {
						o := *it.Object
						o.IP = it.ResourceVersion
						it.Object = &o
					}
					if live {
						ix.Snapshot()
					}
					batch.Reset()
					batch.SetNewer(it)
					if res := ix.Commit(&batch, it.ResourceVersion); len(res.Changes) != 1 {
						b.Fatal("no change")
					}
				}
			})
		}
	}
}

// What do the differences of 1 % of the objects cost?
func BenchmarkDiff(b *testing.B) {
	ix, items := benchStore(b, benchObjects)
	before := ix.Snapshot()
	var batch Batch[*obj]
	for i := range benchObjects / 100 {
		it := items[(i*7919)%len(items)]
		it.ResourceVersion = strconv.Itoa(1_000_000 + i)
		batch.Set(it)
	}
	ix.Commit(&batch, "2")
	after := ix.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range Diff(before, after) {
			n++
		}
		if n != benchObjects/100 {
			b.Fatal(n)
		}
	}
}

// What does a list cost that brings nothing new? And the first one?
func BenchmarkReplace(b *testing.B) {
	b.Run("unchanged", func(b *testing.B) {
		ix, items := benchStore(b, benchObjects)
		b.ReportAllocs()
		for b.Loop() {
			ix.ReplaceItems(items, nil, "1")
		}
	})
	b.Run("first", func(b *testing.B) {
		_, items := benchStore(b, benchObjects)
		b.ReportAllocs()
		for b.Loop() {
			ix := New(Indexers[*obj]{"ip": SimpleIndex(func(o *obj) string { return o.IP })})
			ix.ReplaceItems(items, nil, "1")
		}
	})
}
