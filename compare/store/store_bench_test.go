package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"k8s.io/client-go/tools/cache"

	"informer.example/indexer"
)

const count = 50_000

type subject struct {
	name string
	new  func() store
}

func subjects() []subject {
	return []subject{
		{"map", func() store { return &locked{m: map[string]*pod{}} }},
		{"clientgo", func() store { return newClientgo(cache.Indexers{}) }},
		{"clientgo-ns", func() store {
			return newClientgo(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		}},
		{"radix", func() store { return &radix{iradix.New[*pod]()} }},
		{"ours", func() store { return newOurs(false, nil) }},
		{"ours-snapshots", func() store { return newOurs(true, nil) }},
	}
}

func filled(s store, list []*pod) store {
	batch := make([]write, len(list))
	for i, p := range list {
		batch[i] = write{key: keyOf(p), obj: p}
	}
	s.apply(batch)
	return s
}

// each runs f on every subject, filled.
func each(b *testing.B, list []*pod, f func(b *testing.B, s store)) {
	for _, subject := range subjects() {
		s := filled(subject.new(), list)
		b.Run("impl="+subject.name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, s)
		})
	}
}

func shuffled(list []*pod) []string {
	keys := make([]string, len(list))
	for i, p := range list {
		keys[i] = keyOf(p)
	}
	r := rand.New(rand.NewPCG(5, 5))
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// BenchmarkGet looks up one key over and over (hot), and all of them at random.
func BenchmarkGet(b *testing.B) {
	list := pods(count)
	for _, keys := range [][]string{shuffled(list)[:1], shuffled(list)} {
		b.Run(fmt.Sprintf("keys=%d", len(keys)), func(b *testing.B) {
			each(b, list, func(b *testing.B, s store) {
				for i := 0; b.Loop(); i++ {
					if s.get(keys[i%len(keys)]) == nil {
						b.Fatal("not found")
					}
				}
			})
		})
	}
}

// BenchmarkGetParallel is BenchmarkGet of one key with a goroutine per core.
func BenchmarkGetParallel(b *testing.B) {
	list := pods(count)
	key := keyOf(list[count/2])
	each(b, list, func(b *testing.B, s store) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if s.get(key) == nil {
					b.Error("not found")
				}
			}
		})
	})
}

// BenchmarkScan goes through everything: the time is for all 50,000. Only radix
// and ours go in order.
func BenchmarkScan(b *testing.B) {
	each(b, pods(count), func(b *testing.B, s store) {
		for b.Loop() {
			n := 0
			for range s.all() {
				n++
			}
			if n != count {
				b.Fatal(n)
			}
		}
	})
}

// BenchmarkNamespace goes through one namespace of forty.
func BenchmarkNamespace(b *testing.B) {
	list := pods(count)
	want := 0
	for _, p := range list {
		if p.Namespace == "team-07-production" {
			want++
		}
	}
	for _, subject := range subjects() {
		if subject.name == "clientgo" {
			continue // it has no way to find them but the index
		}
		s := filled(subject.new(), list)
		b.Run("impl="+subject.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range s.namespace("team-07-production") {
					n++
				}
				if n != want {
					b.Fatal(n, want)
				}
			}
		})
	}
}

// BenchmarkWrite updates, inserts and deletes in batches; the time is for one
// write.
func BenchmarkWrite(b *testing.B) {
	list := pods(count)
	for _, op := range []string{"update", "insert+delete"} {
		for _, size := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("op=%s/batch=%d", op, size), func(b *testing.B) {
				batches := writes(list, op, size)
				each(b, list, func(b *testing.B, s store) {
					for done := 0; done < b.N; done += size {
						s.apply(batches[done/size%len(batches)])
					}
				})
			})
		}
	}
}

// writes are batches that can be applied over and over. Each pass changes the
// version of what it updates, so that no update is one that changes nothing.
func writes(list []*pod, op string, size int) [][]write {
	r := rand.New(rand.NewPCG(9, uint64(size)))
	var batches [][]write
	version := 1_000_000
	for len(batches)*size < 40_000 {
		var first, second []write
		for _, i := range r.Perm(len(list))[:size] {
			p := *list[i]
			version++
			p.ResourceVersion = strconv.Itoa(version)
			if op == "update" {
				first = append(first, write{key: keyOf(&p), obj: &p})
				continue
			}
			p.Name += "-new"
			first = append(first, write{key: keyOf(&p), obj: &p})
			second = append(second, write{key: keyOf(&p), obj: &p, isDeleted: true})
		}
		batches = append(batches, first)
		if second != nil {
			batches = append(batches, second)
		}
	}
	return batches
}

// BenchmarkByIndex asks an index for 1 and for 200 objects of 10,000.
func BenchmarkByIndex(b *testing.B) {
	list := pods(10_000)
	mine := newOurs(false, indexer.Indexers[*pod]{
		"ip":   indexer.SimpleIndex(func(p *pod) string { return p.Status.PodIP }),
		"node": indexer.SimpleIndex(func(p *pod) string { return p.Spec.NodeName }),
	})
	theirs := newClientgo(cache.Indexers{
		"ip":   func(obj any) ([]string, error) { return []string{obj.(*pod).Status.PodIP}, nil },
		"node": func(obj any) ([]string, error) { return []string{obj.(*pod).Spec.NodeName}, nil },
	})
	filled(mine, list)
	filled(theirs, list)
	of := list[4321]
	for _, q := range []struct{ index, value string }{{"ip", of.Status.PodIP}, {"node", of.Spec.NodeName}} {
		objs, _ := mine.ix.ByIndex(q.index, q.value)
		others, _ := theirs.s.ByIndex(q.index, q.value)
		if len(objs) != len(others) || !slices.Contains(objs, of) {
			b.Fatalf("%d and %d results", len(objs), len(others))
		}
		b.Run(fmt.Sprintf("results=%d/impl=ours", len(objs)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = mine.ix.ByIndex(q.index, q.value)
			}
		})
		b.Run(fmt.Sprintf("results=%d/impl=clientgo", len(objs)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = theirs.s.ByIndex(q.index, q.value)
			}
		})
	}
}

// BenchmarkDiff compares two states that differ in 1 % of the objects, in random
// places. Of the others only radix has states, and no comparison of them.
func BenchmarkDiff(b *testing.B) {
	list := pods(count)
	s := newOurs(false, nil)
	filled(s, list)
	before := s.ix.Snapshot()
	s.apply(writes(list, "update", count/100)[0])
	after := s.ix.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range indexer.Diff(before, after) {
			n++
		}
		if n != count/100 {
			b.Fatal(n)
		}
	}
}
