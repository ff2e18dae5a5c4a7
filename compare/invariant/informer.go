package invariant

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/informer"
)

// Attach lets the checker see an informer: through a handler, and whenever Look
// is called. It comes before Run.
func Attach[T metav1.Object](c *Checker, i *informer.Informer[T]) (*informer.Registration[T], error) {
	return i.AddEventHandler(informer.HandlerFunc[T](func(e informer.Event[T]) {
		Look(c, i)
		c.Event(Event{
			Type: e.Type.String(), Key: e.Key, UID: e.UID, RV: e.ResourceVersion,
			Resync: e.Source == informer.FromResync,
		})
	}), informer.WithName("invariants"), informer.WithHandlerResync(0))
}

// Look looks at the informer's store, its sync and its open requests.
func Look[T metav1.Object](c *Checker, i *informer.Informer[T]) {
	c.Store(func() (string, State) { return StateOf(i) })
	c.Synced(i.HasSynced())
	c.Idle()
}

// StateOf returns what is in an informer's store, and the version that it stands
// for.
func StateOf[T metav1.Object](i *informer.Informer[T]) (rv string, state State) {
	snap := i.Snapshot()
	state = make(State, snap.Len())
	for key, obj := range snap.All() {
		state[key] = Version{obj.GetUID(), obj.GetResourceVersion()}
	}
	return snap.ResourceVersion(), state
}
