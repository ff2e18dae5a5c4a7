package reflector

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// polled is the last list of a resource whose objects have no versions. With
// nothing else to go by, it is the objects themselves that tell whether they
// have changed.
type polled[T metav1.Object] map[object.Key]object.Item[T]

// settle puts the objects of the list before in the place of those that are
// equal, so that whoever compares the two lists sees that nothing has changed.
func (p *polled[T]) settle(list *List[T]) {
	if list.ResourceVersion != "" {
		*p = nil
		return
	}
	before, now := *p, make(polled[T], len(list.Items))
	for n, it := range list.Items {
		was, known := before[it.Key]
		if known && was.UID == it.UID && it.ResourceVersion == "" && was.ResourceVersion == "" && reflect.DeepEqual(was.Object, it.Object) {
			list.Items[n] = was
		}
		now[it.Key] = list.Items[n]
	}
	for _, key := range list.Keep { // it exists, and may be readable again
		if was, known := before[key]; known {
			now[key] = was
		}
	}
	*p = now
}
