package compare

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// M6: the same arguments give the same writes; each is possible when its turn
// comes.
func TestM6Schedule(t *testing.T) {
	for _, tt := range []struct {
		why           string
		objects, rate int
		duration      time.Duration
		writes        int
	}{
		{"the default's shape", 5000, 100, 15 * time.Second, 1500},
		{"few objects: deletions must not run out of them", 1, 1000, 2 * time.Second, 2000},
		{"less than one write", 10, 1, 100 * time.Millisecond, 0},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ops := slices.Collect(schedule(3, tt.objects, tt.rate, tt.duration))
			again := slices.Collect(schedule(3, tt.objects, tt.rate, tt.duration))
			if diff := cmp.Diff(ops, again, cmp.AllowUnexported(operation{})); diff != "" {
				t.Fatalf("the second time differs:\n%s", diff)
			}
			if len(ops) != tt.writes {
				t.Fatalf("%d writes, want %d", len(ops), tt.writes)
			}
			live := map[int]bool{}
			for i := range tt.objects {
				live[i] = true
			}
			count := map[verb]int{}
			reused := 0
			for i, op := range ops {
				if op.at != time.Duration(i)*time.Second/time.Duration(tt.rate) || op.at >= tt.duration {
					t.Fatalf("write %d is due at %v", i, op.at)
				}
				switch known, exists := live[op.object]; {
				case op.verb == create && exists && known, op.verb != create && !known:
					t.Fatalf("write %d: verb %d on object %d, exists: %v", i, op.verb, op.object, known)
				case op.verb == create && exists:
					reused++
				}
				live[op.object] = op.verb != remove
				count[op.verb]++
			}
			if tt.writes >= 1000 && (count[create] == 0 || count[remove] == 0 || count[update] < tt.writes/3 || reused == 0) {
				t.Fatalf("creations %d (%d under an old name), updates %d, deletions %d", count[create], reused, count[update], count[remove])
			}
		})
	}
	if cmp.Equal(slices.Collect(schedule(1, 9, 99, time.Second)), slices.Collect(schedule(2, 9, 99, time.Second)), cmp.AllowUnexported(operation{})) {
		t.Fatal("two seeds, the same writes")
	}
}
