package indexer

import (
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// IndexFunc returns the values under which an object is found in an index:
// none to leave it out. It must depend on the object alone, and must not
// change it.
//
// It runs under no lock, possibly in several goroutines at once and more than
// once for one object. An error or a panic leaves the object out of this one
// index, and is reported as an [*IndexError].
type IndexFunc[T metav1.Object] func(obj T) ([]string, error)

// Indexers maps the name of an index to its function.
type Indexers[T metav1.Object] map[string]IndexFunc[T]

// Reader is what can be asked of a store. [*Indexer] answers each call from
// the present state, [*Snapshot] all of them from one.
//
// Lists are in the order of [object.Key.Compare]. A returned slice is the
// caller's; the objects in it are the store's and must not be changed.
type Reader[T metav1.Object] interface {
	// Get looks up the object that has obj's key.
	Get(obj T) (T, bool, error)
	// GetByKey looks up "namespace/name", or "name" for a cluster-scoped
	// object. A string that is no key is a [*object.KeyError].
	GetByKey(key string) (T, bool, error)
	// Item is GetByKey for a ready key, with UID and resourceVersion beside
	// the object.
	Item(key object.Key) (object.Item[T], bool)

	List() []T
	ListKeys() []string
	Len() int

	// Index returns the objects that share a value of the named index with
	// obj, each once. obj itself need not be stored.
	Index(name string, obj T) ([]T, error)
	// ByIndex returns the objects that have the value in the named index. A
	// name that no index has is an [*UnknownIndexError].
	ByIndex(name, value string) ([]T, error)
	// IndexKeys is ByIndex for keys.
	IndexKeys(name, value string) ([]string, error)
	// ListIndexFuncValues returns the values that the named index holds, in
	// order; none for a name that no index has.
	ListIndexFuncValues(name string) []string

	// ResourceVersion is the version of the whole collection that the state
	// stands for; empty when none was given yet.
	ResourceVersion() string
}

// Option changes how an [Indexer] works.
type Option[T metav1.Object] func(*Indexer[T])

// WithKeyFunc replaces [object.KeyOf] as what finds an object's key. The
// function must be safe for concurrent use.
func WithKeyFunc[T metav1.Object](f object.KeyFunc[T]) Option[T] {
	return func(ix *Indexer[T]) {
		if f != nil {
			ix.keyFunc = f
		}
	}
}

// Indexer is the store. All methods are safe for concurrent use.
type Indexer[T metav1.Object] struct {
	keyFunc object.KeyFunc[T] // fixed

	// set is the index functions in force. Written under mu.
	set atomic.Pointer[indexSet[T]]

	// cached is the snapshot of the present state, or nil when none was taken
	// since the last change. Written under mu. While it is there, reads need
	// no lock.
	cached atomic.Pointer[Snapshot[T]]

	// mu guards what follows, and the indexes in set. No code of the user runs
	// under it (S6).
	mu       sync.RWMutex
	order    tree[*slot[T]]
	table    table[entry[T]]
	rv       string
	sequence uint64
	lastID   uint32 // of an index

	// keys is read without a lock, and written under mu.
	keys *keyMap[T]
	// turn is odd while a commit is changing keys.
	turn atomic.Uint64
}

var _ Reader[metav1.Object] = (*Indexer[metav1.Object])(nil)

// New returns an empty store with the given indexes. The map is copied. An
// index whose function is nil holds nothing; every object stored is reported
// as left out of it.
func New[T metav1.Object](indexers Indexers[T], opts ...Option[T]) *Indexer[T] {
	ix := &Indexer[T]{keyFunc: object.KeyOf[T], keys: newKeyMap[T]()}
	for _, opt := range opts {
		opt(ix)
	}
	set := &indexSet[T]{}
	set = set.with(ix.newIndexes(indexers), 1)
	for _, x := range set.list {
		x.ready = true
	}
	ix.set.Store(set)
	return ix
}

// Snapshot returns the present state, for good. It takes a lock for
// nanoseconds, and copies nothing: instead, the next changes copy the nodes of
// the trees that they touch, each once.
func (ix *Indexer[T]) Snapshot() *Snapshot[T] {
	if s := ix.cached.Load(); s != nil {
		return s
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.snapshotLocked()
}

func (ix *Indexer[T]) snapshotLocked() *Snapshot[T] {
	if s := ix.cached.Load(); s != nil {
		return s
	}
	s := &Snapshot[T]{
		keyFunc:  ix.keyFunc,
		keys:     ix.keys,
		contents: contents[T]{ix.order.snapshot(), ix.table.snapshot()},
		rv:       ix.rv,
		sequence: ix.sequence,
	}
	set := ix.set.Load()
	s.indexes = make([]indexView[T], 0, len(set.list))
	for _, x := range set.list {
		if x.ready {
			s.indexes = append(s.indexes, indexView[T]{
				id: x.id, name: x.name, fn: x.fn, answers: x.answers, born: x.born, left: x.left, view: x.tree.snapshot(),
			})
		}
	}
	ix.cached.Store(s)
	return s
}
