package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// changeEvent puts a change of the store into the words of a handler.
func changeEvent[T metav1.Object](c *indexer.Change[T], source Source, initial bool) Event[T] {
	e := Event[T]{Source: source, Initial: initial}
	switch c.Type {
	case indexer.Added:
		e.Type = Added
		e.Key, e.UID, e.ResourceVersion, e.New = c.New.Key, c.New.UID, c.New.ResourceVersion, c.New.Object
	case indexer.Updated:
		e.Type = Updated
		e.Key, e.UID, e.ResourceVersion, e.New = c.New.Key, c.New.UID, c.New.ResourceVersion, c.New.Object
		e.OldResourceVersion, e.Old = c.Old.ResourceVersion, c.Old.Object
	case indexer.Deleted:
		e.Type, e.Reason = Deleted, DeleteReason(c.Cause)
		last := c.Old
		if c.Final != nil {
			last, e.FinalStateKnown = c.Final, true
		}
		e.Key, e.UID, e.ResourceVersion, e.Old = c.Old.Key, c.Old.UID, last.ResourceVersion, last.Object
		e.OldResourceVersion = c.Old.ResourceVersion
	}
	return e
}

// replayEvent is the event of a resync: an update that changes nothing.
func replayEvent[T metav1.Object](item *object.Item[T]) Event[T] {
	return Event[T]{
		Type: Updated, Source: FromResync,
		Key: item.Key, UID: item.UID,
		ResourceVersion: item.ResourceVersion, OldResourceVersion: item.ResourceVersion,
		Old: item.Object, New: item.Object,
	}
}
