package store

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"informer.example/indexer"
	"informer.example/object"
)

type pod = corev1.Pod

// write is one change of an object.
type write struct {
	key       string
	obj       *pod
	isDeleted bool
}

// store is what all of them can do.
type store interface {
	apply(batch []write)
	get(key string) *pod
	all() iter.Seq[*pod] // in any order
	namespace(ns string) iter.Seq[*pod]
}

// pods are such as a cluster has: few namespaces, long common prefixes. In the
// server's order.
func pods(n int) []*pod {
	r := rand.New(rand.NewPCG(1, 1))
	list := make([]*pod, n)
	for i := range list {
		list[i] = &pod{ObjectMeta: metav1.ObjectMeta{
			Namespace:       fmt.Sprintf("team-%02d-production", r.IntN(40)),
			Name:            fmt.Sprintf("web-frontend-%d-%08x-%05x", r.IntN(400), r.Uint32(), i),
			UID:             types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i)),
			ResourceVersion: strconv.Itoa(1000 + i),
		}}
		list[i].Status.PodIP = fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		list[i].Spec.NodeName = fmt.Sprintf("node-%03d", i%(n/200+1))
	}
	slices.SortFunc(list, func(a, b *pod) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return list
}

func keyOf(p *pod) string { return p.Namespace + "/" + p.Name }

// ours is the indexer.
type ours struct {
	ix        *indexer.Indexer[*pod]
	batch     indexer.Batch[*pod]
	snapshots bool
	held      *indexer.Snapshot[*pod]
}

func newOurs(snapshots bool, indexers indexer.Indexers[*pod]) *ours {
	return &ours{ix: indexer.New(indexers), snapshots: snapshots}
}

func (s *ours) apply(batch []write) {
	if s.snapshots {
		s.held = s.ix.Snapshot()
	}
	s.batch.Reset()
	for _, w := range batch {
		if w.isDeleted {
			key, _ := object.ParseKey(w.key)
			s.batch.Delete(object.Item[*pod]{Key: key})
			continue
		}
		item, _ := object.NewItem(w.obj, nil)
		s.batch.Set(item)
	}
	s.ix.Commit(&s.batch, "")
}

func (s *ours) get(key string) *pod { p, _, _ := s.ix.GetByKey(key); return p }

func (s *ours) all() iter.Seq[*pod] { return slices.Values(s.ix.List()) }

func (s *ours) namespace(ns string) iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		for _, p := range s.ix.Snapshot().Namespace(ns) {
			if !yield(p) {
				return
			}
		}
	}
}

// locked is a map behind a lock: the least that a store can be.
type locked struct {
	mu sync.RWMutex
	m  map[string]*pod
}

func (s *locked) apply(batch []write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range batch {
		if w.isDeleted {
			delete(s.m, w.key)
		} else {
			s.m[w.key] = w.obj
		}
	}
}

func (s *locked) get(key string) *pod {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.m[key]
}

func (s *locked) all() iter.Seq[*pod] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*pod, 0, len(s.m))
	for _, p := range s.m {
		list = append(list, p)
	}
	return slices.Values(list)
}

func (s *locked) namespace(ns string) iter.Seq[*pod] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []*pod
	for _, p := range s.m {
		if p.Namespace == ns {
			list = append(list, p)
		}
	}
	return slices.Values(list)
}

// radix is an immutable radix tree: each batch is a transaction.
type radix struct{ tree *iradix.Tree[*pod] }

func (s *radix) apply(batch []write) {
	txn := s.tree.Txn()
	for _, w := range batch {
		if w.isDeleted {
			txn.Delete([]byte(w.key))
		} else {
			txn.Insert([]byte(w.key), w.obj)
		}
	}
	s.tree = txn.Commit()
}

func (s *radix) get(key string) *pod { p, _ := s.tree.Get([]byte(key)); return p }

func (s *radix) all() iter.Seq[*pod] { return s.walk("") }

func (s *radix) namespace(ns string) iter.Seq[*pod] { return s.walk(ns + "/") }

func (s *radix) walk(prefix string) iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		s.tree.Root().WalkPrefix([]byte(prefix), func(_ []byte, p *pod) bool { return !yield(p) })
	}
}

// clientgo is client-go's store with the index that its informers have.
type clientgo struct{ s cache.ThreadSafeStore }

func newClientgo(indexers cache.Indexers) *clientgo {
	return &clientgo{cache.NewThreadSafeStore(indexers, cache.Indices{})}
}

func (s *clientgo) apply(batch []write) {
	if t, ok := s.s.(cache.ThreadSafeStoreWithTransaction); ok && len(batch) > 1 {
		txn := make([]cache.ThreadSafeStoreTransaction, len(batch))
		for i, w := range batch {
			kind := cache.TransactionTypeUpdate
			if w.isDeleted {
				kind = cache.TransactionTypeDelete
			}
			txn[i] = cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Object: w.obj, Type: kind}, Key: w.key}
		}
		t.Transaction(txn...)
		return
	}
	for _, w := range batch {
		if w.isDeleted {
			s.s.Delete(w.key)
		} else {
			s.s.Update(w.key, w.obj)
		}
	}
}

func (s *clientgo) get(key string) *pod {
	obj, _ := s.s.Get(key)
	p, _ := obj.(*pod)
	return p
}

func (s *clientgo) all() iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		for _, obj := range s.s.List() {
			if !yield(obj.(*pod)) {
				return
			}
		}
	}
}

func (s *clientgo) namespace(ns string) iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		objs, _ := s.s.ByIndex(cache.NamespaceIndex, ns)
		for _, obj := range objs {
			if !yield(obj.(*pod)) {
				return
			}
		}
	}
}
