package indexer

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// difference is a key that two states have different entries for; nil stands
// for none.
type difference[T metav1.Object] struct{ before, after *entry[T] }

func (d difference[T]) slot() *slot[T] {
	if d.before != nil {
		return d.before.slot
	}
	return d.after.slot
}

// gathered is up to which share of all objects, as 1/gathered, differences are gathered from the
// tables and sorted. If there are more, it costs less to go through both trees.
const gathered = 4

// differences calls yield for every key whose entry is not the same in both
// states, in key order. It ends as soon as yield returns false.
func differences[T metav1.Object](a, b contents[T], yield func(before, after *entry[T]) bool) {
	list, ok := gather(a.table, b.table, max(a.order.len, b.order.len)/gathered)
	if !ok {
		sideBySide(a, b, yield)
		return
	}
	// The trees are shared where keys stayed, the tables where entries stayed.
	// So the tables say what has changed, in the order of ids.
	slices.SortFunc(list, func(x, y difference[T]) int { return x.slot().Compare(y.slot()) })
	for i := 0; i < len(list); i++ {
		d := list[i]
		if i+1 < len(list) && d.slot().Compare(list[i+1].slot()) == 0 {
			// The key was deleted, and stored again in another slot.
			i++
			d = difference[T]{orElse(d.before, list[i].before), orElse(d.after, list[i].after)}
		}
		if !yield(d.before, d.after) {
			return
		}
	}
}

// gather returns what is different in two tables, in no order that means
// anything, or false if that is more than limit.
func gather[T metav1.Object](a, b tableView[entry[T]], limit int) (list []difference[T], ok bool) {
	ok = diffTables(a, b, func(before, after *entry[T]) bool {
		if before != nil && after != nil && before.slot != after.slot {
			// The id has been given to another key.
			list = append(list, difference[T]{before: before}, difference[T]{after: after})
		} else {
			list = append(list, difference[T]{before, after})
		}
		return len(list) <= limit
	})
	return list, ok
}

// sideBySide is differences for states that have little in common.
func sideBySide[T metav1.Object](a, b contents[T], yield func(before, after *entry[T]) bool) {
	olds, news := a.table.scan(), b.table.scan()
	var p, q path[*slot[T]]
	a.order.first(&p)
	b.order.first(&q)
	for p.valid() || q.valid() {
		c := 0
		switch {
		case !q.valid():
			c = -1
		case !p.valid():
			c = 1
		default:
			c = p.key().Compare(q.key())
		}
		var before, after *entry[T]
		if c <= 0 {
			before = olds.get(p.key().id)
			p.next()
		}
		if c >= 0 {
			after = news.get(q.key().id)
			q.next()
		}
		if before != after && !yield(before, after) {
			return
		}
	}
}
