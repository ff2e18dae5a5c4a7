package deltafifo

import (
	"context"
	"sync"
)

// gate is what both queues share: the lock, and who waits for what.
//
// Locking: mu guards the fields below it and the contents of the queue. It is
// never held while process runs or while anyone waits. The popper that holds
// turn is the only one; it takes mu after turn, never the other way round.
type gate struct {
	maxDepth int

	// turn holds one token while a popper waits for work or processes.
	turn chan struct{}
	// ready holds one token when there may be work or the queue was closed.
	// Only the holder of turn receives from it, and it looks before it waits,
	// so a token too many is harmless and none is missed.
	ready chan struct{}

	mu     sync.Mutex
	depth  int
	closed bool
	// room is closed when there is room, or the queue was closed, for all the
	// writers that wait on it. It is nil while none does.
	room     chan struct{}
	progress progress
}

func newGate(maxDepth int) gate {
	if maxDepth <= 0 {
		maxDepth = DefaultMaxDepth
	}
	return gate{
		maxDepth: maxDepth,
		turn:     make(chan struct{}, 1),
		ready:    make(chan struct{}, 1),
		progress: progress{done: make(chan struct{})},
	}
}

// lockToWrite returns with mu held once there is room, or with an error and
// without it.
func (g *gate) lockToWrite(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	for !g.closed && g.depth >= g.maxDepth {
		if g.room == nil {
			g.room = make(chan struct{})
		}
		room, depth := g.room, g.depth
		g.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return &FullError{Depth: depth, MaxDepth: g.maxDepth, Err: ctx.Err()}
		}
		g.mu.Lock()
	}
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// unlockWritten ends a write that added n deltas.
func (g *gate) unlockWritten(n int) {
	g.depth += n
	g.mu.Unlock()
	g.signal()
}

func (g *gate) signal() {
	select {
	case g.ready <- struct{}{}:
	default:
	}
}

// lockToPop returns with turn and mu held once hasWork, which is called with
// mu held, says so; or with an error and neither.
func (g *gate) lockToPop(ctx context.Context, hasWork func() bool) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		if err := ctx.Err(); err != nil {
			<-g.turn
			return err
		}
		g.mu.Lock()
		if hasWork() {
			return nil
		}
		closed := g.closed
		g.mu.Unlock()
		if closed {
			<-g.turn
			return ErrClosed
		}
		select {
		case <-g.ready:
		case <-ctx.Done():
		}
	}
}

// unlockTaken gives mu back, and keeps turn, after n deltas were taken, which
// are so many entries of progress.
func (g *gate) unlockTaken(n, entries int) {
	g.progress.taken(entries)
	g.depth -= n
	if g.depth < g.maxDepth {
		g.admitWriters()
	}
	g.mu.Unlock()
}

func (g *gate) admitWriters() {
	if g.room != nil {
		close(g.room)
		g.room = nil
	}
}

// HasSynced reports whether the first Replace has been processed (Q5).
func (g *gate) HasSynced() bool {
	select {
	case <-g.progress.done:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced turns true.
func (g *gate) Synced() <-chan struct{} { return g.progress.done }

// Depth counts the deltas that wait.
func (g *gate) Depth() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.depth
}

// Close makes every write fail from now on. What is queued can still be
// popped; then poppers get [ErrClosed]. Closing again does nothing.
func (g *gate) Close() {
	g.mu.Lock()
	g.closed = true
	g.admitWriters()
	g.mu.Unlock()
	g.signal()
}
