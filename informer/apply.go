package informer

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/deltafifo"
	"informer.example/indexer"
	"informer.example/object"
)

// chunk is how many deltas of the in-order queue go into one commit. Small
// enough that readers and handlers are not held up by a burst, large enough
// that the cost of a commit is shared.
const chunk = 256

// applier is the apply loop of a part: it takes deltas off the queue, commits
// them to the store and publishes what changed. It is the only writer of its
// part's range of the store; the informer's turn keeps several from writing at
// once. All of it belongs to the one goroutine in run.
type applier[T metav1.Object] struct {
	informer *Informer[T]
	ctx      context.Context // run's
	part     *part[T]
	synced   bool // the part's first list has been applied
	batch    indexer.Batch[T]
	pending  int    // deltas in batch
	source   Source // of the deltas in batch
	rv       string // the version that the store stands for once the batch is committed; "" is as before
}

// run applies until ctx ends or the queue is closed.
func (a *applier[T]) run(ctx context.Context) {
	i := a.informer
	process := a.apply
	if i.opts.Queue == DeltaFIFO {
		process = a.applyGrouped
	}
	a.ctx = ctx
	for a.part.queue.PopBatch(ctx, process) == nil {
		if !a.synced && a.part.queue.HasSynced() {
			a.synced = true
			if i.scope.partSynced(a.part) {
				i.markSynced()
			}
		}
	}
}

// apply commits what came off the in-order queue. The order of the deltas is
// the server's, so the store may be shown after any of them.
func (a *applier[T]) apply(deltas []deltafifo.Delta[T]) error {
	for n := range deltas {
		d := &deltas[n]
		if d.Type == deltafifo.ReplacedAll {
			if err := a.flush(); err != nil {
				return err
			}
			if err := a.replace(d.List); err != nil {
				return err
			}
			continue
		}
		if a.pending >= chunk {
			if err := a.flush(); err != nil {
				return err
			}
		}
		a.source = FromWatch
		a.stage(d)
	}
	return a.flush()
}

// applyGrouped commits what came off a DeltaFIFO: the deltas of one key
// together, so that the store stands for a resourceVersion only after all of
// them. One commit keeps a list whole (H3). Its events are told as the list's,
// also where a live event slipped in behind its key.
func (a *applier[T]) applyGrouped(deltas []deltafifo.Delta[T]) error {
	a.source = FromWatch
	for n := range deltas {
		if d := &deltas[n]; d.Type == deltafifo.Replaced || d.FinalStateUnknown {
			a.source = a.listSource()
			break
		}
	}
	for n := range deltas {
		a.stage(&deltas[n])
	}
	return a.flush()
}

// stage puts one delta into the batch. The batch stands for the last version
// that a delta of it says.
func (a *applier[T]) stage(d *deltafifo.Delta[T]) {
	if rv := d.Version(); rv != "" {
		a.rv = rv
	}
	switch d.Type {
	case deltafifo.Replaced, deltafifo.Added, deltafifo.Updated:
		if !a.passes(d.Item) {
			a.batch.DeleteBecause(uint8(Filtered), object.Item[T]{Key: d.Item.Key})
			a.pending++
			return
		}
	}
	switch d.Type {
	case deltafifo.Replaced:
		a.batch.Set(d.Item)
	case deltafifo.Added, deltafifo.Updated:
		a.batch.SetNewer(d.Item)
	case deltafifo.Deleted:
		if d.FinalStateUnknown {
			a.batch.Delete(object.Item[T]{Key: d.Item.Key})
		} else {
			a.batch.Delete(d.Item)
		}
	default: // Sync: nothing changed, and handlers resync from a snapshot
		return
	}
	a.pending++
}

// flush commits and publishes what is staged; a resourceVersion alone counts.
// It fails only when run is to end.
func (a *applier[T]) flush() error {
	if a.pending == 0 && a.rv == "" {
		return nil
	}
	i := a.informer
	i.turn.Lock()
	defer i.turn.Unlock()
	began := i.traceStart()
	result := i.store.Commit(&a.batch, i.scope.version(a.part, a.rv))
	i.scope.moved(a.part, a.rv)
	i.waiters.applied(i.reached)
	a.batch.Reset()
	a.pending, a.rv = 0, ""
	i.stale.Add(uint64(result.Stale))
	i.reportIndexErrors(result.Errors)
	if len(result.Changes) == 0 {
		i.traceCommit(a.part.namespace, began, &segment[T]{seq: result.Sequence, source: a.source})
		i.hub.advance(result.Sequence)
		return nil
	}
	if d := i.hub.detector; d != nil {
		d.committed(result.Changes)
	}
	s := &segment[T]{seq: result.Sequence, source: a.source, changes: result.Changes}
	i.traceCommit(a.part.namespace, began, s)
	return a.publish(s)
}

// publish hands a commit to the handlers, and waits while one that may miss
// nothing has too many events before it.
func (a *applier[T]) publish(s *segment[T]) error {
	if wait := a.informer.hub.publish(s); wait {
		return a.informer.hub.awaitBlocking(a.ctx)
	}
	return nil
}

// replace makes the part's range of the store equal to a list: one commit,
// told as the difference between the states before and after (H3).
func (a *applier[T]) replace(list *deltafifo.List[T]) error {
	i, p := a.informer, a.part
	if i.opts.Keep != nil {
		list.Items = slices.DeleteFunc(list.Items, func(item object.Item[T]) bool { return !a.passes(item) })
	}
	i.turn.Lock()
	defer i.turn.Unlock()
	began := i.traceStart()
	rv := i.scope.version(p, list.ResourceVersion)
	var before, after *indexer.Snapshot[T]
	var errs []*indexer.IndexError
	if p.whole {
		before, after, errs = i.store.ReplaceItems(list.Items, list.Keep, rv)
	} else {
		before, after, errs = i.store.ReplaceNamespace(p.namespace, list.Items, list.Keep, rv)
	}
	i.scope.moved(p, list.ResourceVersion)
	i.waiters.applied(i.reached)
	i.reportIndexErrors(errs)
	if p.whole { // several namespaces share one version, which says less
		a.countDrift(before, after)
	}
	if d := i.hub.detector; d != nil {
		for c := range indexer.Diff(before, after) {
			d.committed([]indexer.Change[T]{c})
		}
	}
	s := &segment[T]{seq: after.Sequence(), source: a.listSource(), before: before, after: after}
	i.traceCommit(p.namespace, began, s)
	return a.publish(s)
}

// countDrift counts what a list has changed at a version at which nothing
// should have been left to change.
func (a *applier[T]) countDrift(before, after *indexer.Snapshot[T]) {
	i := a.informer
	if before == after || before.ResourceVersion() == "" || before.ResourceVersion() != after.ResourceVersion() {
		return
	}
	n := uint64(0)
	for range indexer.Diff(before, after) {
		n++
	}
	if n > 0 {
		i.drift.Add(n)
		i.opts.Logger.Warn("the store differed from the server at the same resourceVersion, and was put right",
			"informer", i.opts.Name, "objects", n, "resourceVersion", after.ResourceVersion())
	}
}

// passes reports whether an object is to be in the store.
func (a *applier[T]) passes(item object.Item[T]) bool {
	keep := a.informer.opts.Keep
	if keep == nil || keep(item.Object) {
		return true
	}
	a.informer.filtered.Add(1)
	return false
}

func (a *applier[T]) listSource() Source {
	if a.synced {
		return FromRelist
	}
	return FromList
}
