package indexer

import (
	"hash/maphash"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// slotMap finds the slot of a key. One writer at a time, under the store's mu;
// any number of readers, who need no lock: what they find is a slot that was
// in the map at some moment during the call.
//
// It is a hash table with open addressing: a key is in the first free cell at
// or after the one that its hash points to. A removed slot leaves a tombstone,
// since keys behind it must still be found; the next growth drops it.
type slotMap[T metav1.Object] struct {
	seed  maphash.Seed
	cells atomic.Pointer[[]atomic.Pointer[slot[T]]] // never more than two thirds used
	used  int                                       // cells that are not free
	len   int                                       // slots

	tombstone *slot[T]
}

const minCells = 16

func newSlotMap[T metav1.Object]() *slotMap[T] {
	m := &slotMap[T]{seed: maphash.MakeSeed(), tombstone: &slot[T]{}}
	m.rebuild(0)
	return m
}

// hash mixes the two parts asymmetrically, so that a/b and b/a differ.
func (m *slotMap[T]) hash(key object.Key) uint32 {
	h := maphash.String(m.seed, key.Name)
	if key.Namespace != "" {
		h = h*31 ^ maphash.String(m.seed, key.Namespace)
	}
	return uint32(h ^ h>>32)
}

// find returns the slot of a key, or nil.
func (m *slotMap[T]) find(key object.Key) *slot[T] {
	hash := m.hash(key)
	cells := *m.cells.Load()
	for i := home(hash, len(cells)); ; i = after(i, len(cells)) {
		switch s := cells[i].Load(); {
		case s == nil:
			return nil
		case s.hash == hash && s.key == key && s != m.tombstone:
			return s
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

// add puts a slot in, whose hash is set and whose key is not in the map.
func (m *slotMap[T]) add(s *slot[T]) {
	if cells := len(*m.cells.Load()); 3*(m.used+1) > 2*cells {
		m.rebuild(2 * (m.len + 1)) // twice, so that this is rare
	}
	m.put(*m.cells.Load(), s)
	m.used++
	m.len++
}

func (m *slotMap[T]) put(cells []atomic.Pointer[slot[T]], s *slot[T]) {
	i := home(s.hash, len(cells))
	for cells[i].Load() != nil {
		i = after(i, len(cells))
	}
	cells[i].Store(s)
}

// remove takes a slot out that is in the map.
func (m *slotMap[T]) remove(s *slot[T]) {
	cells := *m.cells.Load()
	i := home(s.hash, len(cells))
	for cells[i].Load() != s {
		i = after(i, len(cells))
	}
	cells[i].Store(m.tombstone)
	m.len--
	if len(cells) > minCells && 16*m.len < len(cells) {
		m.rebuild(2 * m.len)
	}
}

// reserve makes room for n more slots at once.
func (m *slotMap[T]) reserve(n int) {
	if cells := len(*m.cells.Load()); 3*(m.used+n) > 2*cells {
		m.rebuild(m.len + n)
	}
}

// rebuild moves all slots to a table with room for n, and drops tombstones.
// Readers go on in the old one until they are done.
func (m *slotMap[T]) rebuild(n int) {
	cells := make([]atomic.Pointer[slot[T]], max(minCells, (3*n+1)/2))
	if old := m.cells.Load(); old != nil {
		for i := range *old {
			if s := (*old)[i].Load(); s != nil && s != m.tombstone {
				m.put(cells, s)
			}
		}
	}
	m.cells.Store(&cells)
	m.used = m.len
}
