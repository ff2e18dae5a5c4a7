package informer

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
	"informer.example/reflector"
)

// Trace is a set of hooks for the way of an object from the wire to the return
// of a handler, in the manner of [net/http/httptrace]. Any of them may be nil,
// and costs nothing then.
//
//	hook          goroutine                         called
//	Wire.*        the reflector's (of a namespace)  see [reflector.Trace]
//	Queueing      the same                          before the queue gets it
//	Committed     the apply loop's                  after the commit, before it is published
//	Delivering    the handler's                     before the call
//	Returned      the handler's                     after the call
//
// For one version of one object they are called in this order, one after the
// other. The exception is a handler that catches up (it joined late or fell
// behind): it is told from the store, maybe just before Committed is called.
// Calls of Committed come in the order of the commits, one at a time, also
// with several namespaces. Everything else may run at the same time.
//
// Hooks may call any method of the informer that a handler may call: nothing
// that such a method waits for is held. Each of them holds up its goroutine,
// and the apply loop's holds up all of the informer: so they must return soon.
// A hook that panics ends the process. The iterators are good during the call
// only. What the informer was given at its making is what counts; a Trace may
// be shared by several.
type Trace struct {
	// Wire is what passes between server and reflector. Where
	// Options.Reflector has a Trace of its own, that one is used instead.
	Wire reflector.Trace
	// Queueing: a list, an event or a bookmark is about to be queued. It waits
	// for room if the queue is full.
	Queueing func(QueueingInfo)
	// Committed: the store has a new state, whether or not an object changed.
	Committed func(CommittedInfo)
	// Delivering: a handler is about to be called.
	Delivering func(DeliveringInfo)
	// Returned: the call has returned, or its panic was isolated. After
	// runtime.Goexit in the handler it isn't called.
	Returned func(ReturnedInfo)
}

// QueueingInfo is what is about to be queued.
type QueueingInfo struct {
	Namespace string              // that is watched by itself; "": all
	Event     reflector.EventType // 0: a list
	// Of a Bookmark there is no Key and no UID, of a list neither: see Keys.
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	// Keys yields the keys of a list; nil otherwise.
	Keys    iter.Seq[object.Key]
	Objects int // 1, of a list as many as it has, of a Bookmark 0
	Depth   int // what is queued already
	At      time.Time
}

// CommittedInfo is a new state of the store.
type CommittedInfo struct {
	Namespace string // whose apply loop it was; "": that of all
	Source    Source
	// Sequence and ResourceVersion are those of a snapshot taken now. A commit
	// that changed nothing has the Sequence of the one before.
	Sequence        uint64
	ResourceVersion string
	Objects         int // in the store
	// Changes yields what changed. For a list it is worked out in going
	// through it, at the cost of comparing the states before and after.
	Changes iter.Seq[ChangeInfo]
	At      time.Time
	Took    time.Duration // the commit, index functions included
}

// ChangeInfo is one change of the store. Its fields are those of [Event].
type ChangeInfo struct {
	Type               EventType
	Key                object.Key
	UID                types.UID
	ResourceVersion    string
	OldResourceVersion string
	Reason             DeleteReason
}

// DeliveringInfo is one call of a handler. The fields are those of [Event].
type DeliveringInfo struct {
	Handler            string
	Type               EventType
	Source             Source
	Initial            bool
	Key                object.Key
	UID                types.UID
	ResourceVersion    string
	OldResourceVersion string
	At                 time.Time
	// Waited is how long it was since the commit, or, where several commits are
	// told as one step, since the first of them; 0 for a resync.
	Waited time.Duration
}

// ReturnedInfo is one call of a handler that is over.
type ReturnedInfo struct {
	DeliveringInfo
	Took  time.Duration
	Panic *HandlerPanic // nil: it returned
}

// WithTrace gives each informer the Trace that of returns for its name; nil is
// none. It is called when the informer is made, and must not call the factory.
func WithTrace(of func(informer string) *Trace) FactoryOption {
	return setting(func(o *factoryOptions) { o.trace = of })
}

func (o *factoryOptions) traceOf(informer string) *Trace {
	if o.trace == nil {
		return nil
	}
	return o.trace(informer)
}

// JoinTraces makes one Trace of several: each hook calls theirs, one after the
// other. Nil is no Trace.
func JoinTraces(traces ...*Trace) *Trace {
	var t Trace
	for _, next := range traces {
		if next == nil {
			continue
		}
		t.Wire.RequestBegun = joinHooks(t.Wire.RequestBegun, next.Wire.RequestBegun)
		t.Wire.RequestAnswered = joinHooks(t.Wire.RequestAnswered, next.Wire.RequestAnswered)
		t.Wire.Received = joinHooks(t.Wire.Received, next.Wire.Received)
		t.Wire.Decoded = joinHooks(t.Wire.Decoded, next.Wire.Decoded)
		t.Wire.RequestEnded = joinHooks(t.Wire.RequestEnded, next.Wire.RequestEnded)
		t.Queueing = joinHooks(t.Queueing, next.Queueing)
		t.Committed = joinHooks(t.Committed, next.Committed)
		t.Delivering = joinHooks(t.Delivering, next.Delivering)
		t.Returned = joinHooks(t.Returned, next.Returned)
	}
	return &t
}

// joinHooks makes one hook of two; nil if both are.
func joinHooks[Info any](a, b func(Info)) func(Info) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(info Info) { a(info); b(info) }
}

// tracedCall makes one call with its hooks.
func (r *Registration[T]) tracedCall(e *Event[T], at time.Duration) {
	info := DeliveringInfo{
		Handler: r.opts.name, Type: e.Type, Source: e.Source, Initial: e.Initial,
		Key: e.Key, UID: e.UID, ResourceVersion: e.ResourceVersion, OldResourceVersion: e.OldResourceVersion,
		At: time.Now(),
	}
	if at != 0 {
		info.Waited = r.hub.clock() - at
	}
	trace := r.hub.trace
	if trace.Delivering != nil {
		trace.Delivering(info)
	}
	if trace.Returned == nil {
		r.invoke(*e)
		return
	}
	began := time.Now()
	panicked := r.invoke(*e)
	trace.Returned(ReturnedInfo{DeliveringInfo: info, Took: time.Since(began), Panic: panicked})
}

// traceStart is when a commit begins; zero if nobody wants to know.
func (i *Informer[T]) traceStart() time.Time {
	if i.hub.trace.Committed == nil {
		return time.Time{}
	}
	return time.Now()
}

// traceCommit tells of a commit that began at began and is about to be
// published as s. Only the informer's turn is held, for which no method waits.
func (i *Informer[T]) traceCommit(namespace string, began time.Time, s *segment[T]) {
	if i.hub.trace.Committed == nil {
		return
	}
	now := time.Now()
	i.hub.trace.Committed(CommittedInfo{
		Namespace: namespace, Source: s.source, Sequence: s.seq,
		ResourceVersion: i.store.ResourceVersion(), Objects: i.store.Len(),
		Changes: s.told(), At: now, Took: now.Sub(began),
	})
}

// told is what the segment tells handlers.
func (s *segment[T]) told() iter.Seq[ChangeInfo] {
	return func(yield func(ChangeInfo) bool) {
		for c := range s.all() {
			e := changeEvent(&c, s.source, false)
			if !yield(ChangeInfo{
				Type: e.Type, Key: e.Key, UID: e.UID, Reason: e.Reason,
				ResourceVersion: e.ResourceVersion, OldResourceVersion: e.OldResourceVersion,
			}) {
				return
			}
		}
	}
}

// traceQueueing tells of what is about to be queued.
func (s sink[T]) traceQueueing(event reflector.EventType, item *object.Item[T]) {
	hook := s.informer.hub.trace.Queueing
	if hook == nil {
		return
	}
	info := QueueingInfo{
		Namespace: s.part.namespace, Event: event, Key: item.Key, UID: item.UID,
		ResourceVersion: item.ResourceVersion, Depth: s.part.queue.Depth(), At: time.Now(),
	}
	if event != reflector.Bookmark {
		info.Objects = 1
	}
	hook(info)
}

// traceQueueingList tells of a list that is about to be queued.
func (s sink[T]) traceQueueingList(items []object.Item[T], rv string) {
	hook := s.informer.hub.trace.Queueing
	if hook == nil {
		return
	}
	hook(QueueingInfo{
		Namespace: s.part.namespace, ResourceVersion: rv, Objects: len(items),
		Keys: keysOf(items), Depth: s.part.queue.Depth(), At: time.Now(),
	})
}

func keysOf[T metav1.Object](items []object.Item[T]) iter.Seq[object.Key] {
	return func(yield func(object.Key) bool) {
		for i := range items {
			if !yield(items[i].Key) {
				return
			}
		}
	}
}
