package indexer

import (
	"hash/maphash"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// keyMap finds the present entry of a key. One writer at a time, under the
// store's mu; any number of readers, who need no lock: what they find was in the
// map at some moment during the call.
//
// It is a hash table with open addressing: a key is in the first free cell at or
// after the one that its hash points to. A removed entry leaves a tombstone,
// since keys behind it must still be found; the next growth drops it.
type keyMap[T metav1.Object] struct {
	seed  maphash.Seed
	cells atomic.Pointer[[]atomic.Pointer[entry[T]]] // never more than two thirds used
	used  int                                        // cells that are not free
	len   int                                        // entries

	tombstone *entry[T]
}

const minCells = 16

func newKeyMap[T metav1.Object]() *keyMap[T] {
	m := &keyMap[T]{seed: maphash.MakeSeed(), tombstone: &entry[T]{}}
	m.rebuild(0)
	return m
}

// hash mixes the two parts asymmetrically, so that a/b and b/a differ.
func (m *keyMap[T]) hash(key object.Key) uint32 {
	h := maphash.String(m.seed, key.Name)
	if key.Namespace != "" {
		h = h*31 ^ maphash.String(m.seed, key.Namespace)
	}
	return uint32(h ^ h>>32)
}

// find returns the entry of a key, or nil.
func (m *keyMap[T]) find(key object.Key) *entry[T] {
	hash := m.hash(key)
	cells := *m.cells.Load()
	for i := home(hash, len(cells)); ; i = after(i, len(cells)) {
		switch e := cells[i].Load(); {
		case e == nil:
			return nil
		case e.hash == hash && e.item.Key == key && e != m.tombstone:
			return e
		}
	}
}

// home is the cell of n that a hash points to, and after the one behind a cell.
func home(hash uint32, n int) int { return int(uint64(hash) * uint64(n) >> 32) }

func after(i, n int) int {
	if i++; i < n {
		return i
	}
	return 0
}

// add puts an entry in, whose hash is set and whose key is not in the map.
func (m *keyMap[T]) add(e *entry[T]) {
	if cells := len(*m.cells.Load()); 3*(m.used+1) > 2*cells {
		m.rebuild(2 * (m.len + 1)) // twice, so that this is rare
	}
	cell(*m.cells.Load(), e.hash, nil).Store(e)
	m.used++
	m.len++
}

// replace puts another entry of the same key in the place of one.
func (m *keyMap[T]) replace(old, e *entry[T]) { cell(*m.cells.Load(), old.hash, old).Store(e) }

// remove takes an entry out that is in the map.
func (m *keyMap[T]) remove(e *entry[T]) {
	cells := *m.cells.Load()
	cell(cells, e.hash, e).Store(m.tombstone)
	m.len--
	if len(cells) > minCells && 16*m.len < len(cells) {
		m.rebuild(2 * m.len)
	}
}

// cell returns the first cell that holds e, from where the hash points to.
func cell[T metav1.Object](cells []atomic.Pointer[entry[T]], hash uint32, e *entry[T]) *atomic.Pointer[entry[T]] {
	i := home(hash, len(cells))
	for cells[i].Load() != e {
		i = after(i, len(cells))
	}
	return &cells[i]
}

// reserve makes room for n more entries at once.
func (m *keyMap[T]) reserve(n int) {
	if cells := len(*m.cells.Load()); 3*(m.used+n) > 2*cells {
		m.rebuild(m.len + n)
	}
}

// rebuild moves all entries to a table with room for n, and drops tombstones.
// Readers go on in the old one until they are done.
func (m *keyMap[T]) rebuild(n int) {
	cells := make([]atomic.Pointer[entry[T]], max(minCells, (3*n+1)/2))
	if old := m.cells.Load(); old != nil {
		for i := range *old {
			if e := (*old)[i].Load(); e != nil && e != m.tombstone {
				cell(cells, e.hash, nil).Store(e)
			}
		}
	}
	m.cells.Store(&cells)
	m.used = m.len
}
