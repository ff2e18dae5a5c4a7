package store

import (
	"runtime"
	"testing"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"k8s.io/client-go/tools/cache"

	"informer.example/indexer"
)

// Bytes that a store needs for each of 50,000 objects, beyond the object and the
// bytes of its key, after the first list. Ours finds a namespace by the order of
// its keys; with an index on it, as client-go needs one, it is measured as well.
func TestP6_BytesPerObject(t *testing.T) {
	list := pods(count)
	ip := indexer.SimpleIndex(func(p *pod) string { return p.Status.PodIP })
	namespace := indexer.SimpleIndex(func(p *pod) string { return p.Namespace })
	theirIP := func(obj any) ([]string, error) { return []string{obj.(*pod).Status.PodIP}, nil }
	measure := func(name string, s func() store) float64 {
		batch := make([]write, len(list))
		for i, p := range list {
			batch[i] = write{key: keyOf(p), obj: p}
		}
		before := heap()
		full := s()
		if o, ok := full.(*ours); ok {
			if err := o.ix.Replace(list, "1"); err != nil {
				t.Fatal(err)
			}
		} else {
			full.apply(batch)
		}
		bytes := float64(heap()-before) / count
		runtime.KeepAlive(full)
		runtime.KeepAlive(batch)
		t.Logf("%-28s %6.1f", name, bytes)
		return bytes
	}
	theirs := measure("clientgo, namespace and ip", func() store {
		return newClientgo(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "ip": theirIP})
	})
	measure("clientgo, no index", func() store { return newClientgo(cache.Indexers{}) })
	measure("map", func() store { return &locked{m: map[string]*pod{}} })
	measure("radix", func() store { return &radix{iradix.New[*pod]()} })
	measure("ours, no index", func() store { return newOurs(false, nil) })
	mine := measure("ours, ip", func() store { return newOurs(false, indexer.Indexers[*pod]{"ip": ip}) })
	both := measure("ours, namespace and ip", func() store {
		return newOurs(false, indexer.Indexers[*pod]{"namespace": namespace, "ip": ip})
	})
	if raceEnabled {
		return // the race detector changes what memory costs
	}
	if mine > 255 || both > 315 {
		t.Errorf("ours needs %.1f and %.1f bytes an object; 250 and 306 were measured", mine, both)
	}
	if mine > 0.7*theirs {
		t.Errorf("ours needs %.1f bytes an object, client-go %.1f", mine, theirs)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
