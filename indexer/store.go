package indexer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// The verbs of client-go's Store, each a commit of its own. All of them leave
// the store's resourceVersion as it is, apart from Replace.
//
// An error of type [IndexErrors] means that the work is done; any other one,
// that nothing has changed.

// Add stores an object, in place of any other of its key.
func (ix *Indexer[T]) Add(obj T) error {
	key, err := keyOf(ix.keyFunc, obj)
	if err != nil {
		return err
	}
	var b Batch[T]
	b.put(object.Item[T]{Key: key, UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(), Object: obj})
	return indexErrors(ix.Commit(&b, "").Errors)
}

// Update is Add.
func (ix *Indexer[T]) Update(obj T) error { return ix.Add(obj) }

// Delete deletes the object that has obj's key, if there is one.
func (ix *Indexer[T]) Delete(obj T) error {
	key, err := keyOf(ix.keyFunc, obj)
	if err != nil {
		return err
	}
	ix.DeleteKey(key)
	return nil
}

// DeleteKey deletes the object under a key, if there is one.
func (ix *Indexer[T]) DeleteKey(key object.Key) {
	var b Batch[T]
	b.Delete(object.Item[T]{Key: key})
	ix.Commit(&b, "")
}

// Replace makes objs the whole state; see [Indexer.ReplaceItems].
func (ix *Indexer[T]) Replace(objs []T, rv string) error {
	items := make([]object.Item[T], len(objs))
	for i, obj := range objs {
		key, err := keyOf(ix.keyFunc, obj)
		if err != nil {
			return err
		}
		items[i] = object.Item[T]{Key: key, UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(), Object: obj}
	}
	_, _, errs := ix.ReplaceItems(items, nil, rv)
	return indexErrors(errs)
}

var _ interface {
	Add(metav1.Object) error
	Update(metav1.Object) error
	Delete(metav1.Object) error
	Replace([]metav1.Object, string) error
} = (*Indexer[metav1.Object])(nil)
