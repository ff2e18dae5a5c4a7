package compare

import (
	"iter"
	"math/rand/v2"
	"time"
)

// verb is what a write does.
type verb uint8

const (
	create verb = iota + 1
	update
	remove
)

// operation is one write of the schedule. Objects are numbered; what number n
// looks like is the server's matter.
type operation struct {
	at     time.Duration // since the start of the churn
	verb   verb
	object int
	step   int // different for every operation, so that no update is a no-op
}

func writesIn(rate int, duration time.Duration) int {
	return int(float64(rate) * duration.Seconds())
}

// schedule yields the writes of a run: a pure function of its arguments, so that
// every subject meets the same (M6). At the start the objects 0 to objects-1
// exist. Of ten writes about eight are updates, one is a creation and one a
// deletion, so the number of objects stays about the same. Every other creation
// takes the name of an object deleted before: a new object under an old name is
// what careless caches mistake for an update.
func schedule(seed uint64, objects, rate int, duration time.Duration) iter.Seq[operation] {
	return func(yield func(operation) bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		live := make([]int, objects)
		for i := range live {
			live[i] = i
		}
		var gone []int
		next := objects
		for i := range writesIn(rate, duration) {
			op := operation{at: time.Duration(i) * time.Second / time.Duration(rate), step: i + 1}
			switch p := rng.IntN(10); {
			case p == 0 || len(live) == 0:
				op.verb, op.object = create, next
				if last := len(gone) - 1; last >= 0 && rng.IntN(2) == 0 {
					op.object, gone = gone[last], gone[:last]
				} else {
					next++
				}
				live = append(live, op.object)
			case p == 1:
				j := rng.IntN(len(live))
				op.verb, op.object = remove, live[j]
				last := len(live) - 1
				live[j] = live[last]
				live = live[:last]
				gone = append(gone, op.object)
			default:
				op.verb, op.object = update, live[rng.IntN(len(live))]
			}
			if !yield(op) {
				return
			}
		}
	}
}
