package reflector

import (
	"runtime"
	"testing"
)

// allocated is how many bytes a call allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// walkCost is what walking a body of n bytes may allocate: the buffers, and
// what doesn't fit them, which grows by doubling.
func walkCost(n int) uint64 { return 512<<10 + 16*uint64(n) }

// decodeCost is what decoding it may allocate. The factor is that of the types,
// not of the walk: two bytes of protobuf can stand for an empty container,
// which as a Go struct is most of a kilobyte, in a slice that doubles.
func decodeCost(n int) uint64 { return 1<<20 + 4096*uint64(n) }

func mayAllocate(t testing.TB, most uint64, f func()) {
	t.Helper()
	if got := allocated(f); got > most {
		t.Errorf("%d bytes allocated, more than %d", got, most)
	}
}
