package deltafifo

import "context"

// Pop blocks until an object is queued, takes the one that has waited longest,
// and calls process with all its deltas. isInInitialList says that the first
// Replace wasn't processed to its end when the object was taken. Errors are
// those of [Queue].PopBatch. The Deltas belong to the queue again when process
// returns.
//
// Pop hands over no bookmarks: use PopBatch where the resourceVersion matters.
func (f *DeltaFIFO[T]) Pop(ctx context.Context, process func(deltas Deltas[T], isInInitialList bool) error) error {
	if err := f.lockToPop(ctx, func() bool { return len(f.waiting.keys) > 0 }); err != nil {
		return err
	}
	initial := !f.HasSynced()
	deltas := f.waiting.moveFirst(&f.flying)
	f.unlockTaken(len(deltas), 1)

	ok := false
	defer func() { f.land(ok) }() // also when process panics
	err := process(deltas, initial)
	ok = err == nil
	return err
}

// PopBatch hands over the deltas of all queued objects, object by object, and
// behind them the resourceVersion of the last write as a Bookmark, unless the
// last delta has it. See [Queue].
func (f *DeltaFIFO[T]) PopBatch(ctx context.Context, process func([]Delta[T]) error) error {
	if err := f.lockToPop(ctx, func() bool { return len(f.waiting.keys) > 0 || f.version != "" }); err != nil {
		return err
	}
	f.waiting, f.flying = f.flying, f.waiting
	version := f.version
	f.version = ""
	f.unlockTaken(f.depth, len(f.flying.keys))

	ok := false
	defer func() { // also when process panics
		f.finishBatch()
		f.land(ok)
	}()
	f.fillBatch(version)
	err := process(f.batch)
	ok = err == nil
	return err
}

// fillBatch lays out what flies, key by key.
func (f *DeltaFIFO[T]) fillBatch(version string) {
	for _, key := range f.flying.keys {
		f.batch = append(f.batch, f.flying.deltas[key]...)
	}
	if version == "" {
		return
	}
	if last := Deltas[T](f.batch).Newest(); last == nil || last.Version() != version {
		d := Delta[T]{Type: Bookmark}
		d.Item.ResourceVersion = version
		f.batch = append(f.batch, d)
	}
}

func (f *DeltaFIFO[T]) finishBatch() {
	n := len(f.batch)
	clear(f.batch)
	f.batch = f.batch[:0]
	if !worthKeeping(n, cap(f.batch)) {
		f.batch = nil
	}
}

// land ends the processing of what flies: from here on the store shows it.
func (f *DeltaFIFO[T]) land(ok bool) {
	f.mu.Lock()
	f.flying.reset(&f.spare)
	f.progress.processed(ok)
	f.mu.Unlock()
	<-f.turn
}
