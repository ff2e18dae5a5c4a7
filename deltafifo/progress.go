package deltafifo

// progress finds the moment at which the first Replace has been processed
// (Q5). It counts entries in queue order: deltas in an InOrder, keys in a
// DeltaFIFO. The gate's lock guards it.
type progress struct {
	// populated is set by the first write, whichever it is.
	populated bool
	// failed is set when an initial entry's process fails; from then on only
	// a Replace counts as populating.
	failed bool
	// left is how many entries of the first Replace wait: the first in the
	// queue, with what was queued before them. flying is how many are being
	// processed.
	left, flying int
	done         chan struct{}
}

// wrote is told of each Add, Update and Delete. With no Replace before, there
// is no initial state to wait for.
func (p *progress) wrote() {
	if !p.failed {
		p.populated = true
	}
	p.check()
}

// replaced is told of each Replace, and how many entries are queued after it.
func (p *progress) replaced(queued int) {
	if !p.populated {
		p.populated = true
		p.left = queued
	}
	p.check()
}

// taken is told of n entries that go to be processed. What was taken before
// the first Replace isn't a part of it, although it may be done after.
func (p *progress) taken(n int) {
	p.flying = min(n, p.left)
	p.left -= p.flying
}

// processed is told that the process of what was taken has returned.
func (p *progress) processed(ok bool) {
	if p.flying == 0 {
		return
	}
	p.flying = 0
	if !ok {
		p.populated, p.failed, p.left = false, true, 0
	}
	p.check()
}

func (p *progress) check() {
	if !p.populated || p.left+p.flying > 0 {
		return
	}
	select {
	case <-p.done:
	default:
		close(p.done)
	}
}
