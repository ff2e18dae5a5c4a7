package compare

import (
	"math"
	"slices"
	"time"
)

// State names one state of one object: what a write made of it. Deletions have
// no resourceVersion, since whoever finds one by absence cannot know it.
type State struct {
	UID             string `json:"u"`
	ResourceVersion string `json:"v,omitempty"`
	Deleted         bool   `json:"d,omitempty"`
}

// Write is one write of the churn. At is from just before it was sent.
type Write struct {
	State
	Key string `json:"k"`
	At  int64  `json:"t"` // nanoseconds since 1970
}

// Told is one handler call.
type Told struct {
	State
	At int64 `json:"t"`
}

// verdict is what comparing the two logs says.
type verdict struct {
	staleness []time.Duration // of the writes that have one, sorted
	missed    int
}

// judge compares what was written with what the handler was told (M3, M4). The
// writes of a key are in order.
func judge(writes []Write, told []Told) verdict {
	firstTold := make(map[State]int64, len(told))
	for _, t := range told {
		if at, known := firstTold[t.State]; !known || t.At < at {
			firstTold[t.State] = t.At
		}
	}
	var v verdict
	// From the end, so that for each key the earliest call about this or a later
	// state is known.
	upToDate := make(map[string]int64)
	for _, w := range slices.Backward(writes) {
		at, known := firstTold[w.State]
		if !known {
			v.missed++
		}
		if later, ok := upToDate[w.Key]; ok && (!known || later < at) {
			at, known = later, true
		}
		if known {
			upToDate[w.Key] = at
			v.staleness = append(v.staleness, time.Duration(max(at-w.At, 0)))
		}
	}
	slices.Sort(v.staleness)
	return v
}

// percentile of the staleness by nearest rank; unknown without a sample.
func (v verdict) percentile(p float64) (time.Duration, bool) {
	n := len(v.staleness)
	if n == 0 {
		return 0, false
	}
	rank := int(math.Ceil(p / 100 * float64(n)))
	return v.staleness[min(max(rank, 1), n)-1], true
}
