package indexer

import (
	"iter"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Query asks a [Snapshot] for the objects that satisfy all of its conditions.
// The zero value asks for all objects.
type Query struct {
	// Namespace limits the answer to one namespace; "" is all of them.
	Namespace string
	// After limits the answer to the keys behind this one, which need not be
	// stored: so a list is continued.
	After object.Key
	// Where are conditions that indexes answer.
	Where []Condition
}

// Condition holds for the objects that have any of Values in the named index;
// without Values, for those that have any value in it.
type Condition struct {
	Index  string
	Values []string
}

// Plan says how a [Query] is answered.
type Plan struct {
	// First is the place in Where of the condition whose bucket is gone through:
	// the one with the fewest objects. -1: there are no conditions, and the
	// objects are gone through in the order of keys.
	First int
	// Sizes of the conditions' buckets, within Namespace and After. Those that
	// were seen to be larger than the smallest were not counted on: their size
	// is the count so far.
	Sizes []int
	// Candidates is how many objects are looked at: the size of the first
	// bucket, or without conditions of all that is within Namespace and After.
	Candidates int
}

// Query returns the answer in the order of keys, each object once. It costs
// what the smallest bucket holds: the other conditions are checked against the
// values remembered with each object. A condition with several values, or none,
// costs sorting its bucket. A name that no index has is an [*UnknownIndexError].
func (s *Snapshot[T]) Query(q Query) (iter.Seq[*object.Item[T]], error) {
	conds, err := s.conditions(q)
	if err != nil {
		return nil, err
	}
	if len(conds) == 0 {
		return func(yield func(*object.Item[T]) bool) {
			stored := s.table.scan()
			s.inOrder(q, func(at *slot[T]) bool { return yield(&stored.get(at.id).item) })
		}, nil
	}
	first := 0
	if len(conds) > 1 {
		first = s.smallest(q, conds).First
	}
	return func(yield func(*object.Item[T]) bool) {
		others := slices.Delete(slices.Clone(conds), first, first+1)
		stored := s.table.scan()
		conds[first].each(q, func(at *slot[T]) bool {
			e := stored.get(at.id)
			for i := range others {
				if !others[i].holds(e) {
					return true
				}
			}
			return yield(&e.item)
		})
	}, nil
}

// Plan says how Query would go about it.
func (s *Snapshot[T]) Plan(q Query) (Plan, error) {
	conds, err := s.conditions(q)
	if err != nil {
		return Plan{}, err
	}
	if len(conds) > 0 {
		return s.smallest(q, conds), nil
	}
	p := Plan{First: -1}
	s.inOrder(q, func(*slot[T]) bool { p.Candidates++; return true })
	return p, nil
}

// condition is a Condition in one snapshot.
type condition[T metav1.Object] struct {
	*indexView[T]
	values []string // no value twice; nil: any
	// members are all slots of the index, once holds needed them.
	members map[*slot[T]]struct{}
}

func (s *Snapshot[T]) conditions(q Query) ([]condition[T], error) {
	var conds []condition[T]
	for _, c := range q.Where {
		x, err := s.index(c.Index)
		if err != nil {
			return nil, err
		}
		cond := condition[T]{indexView: x}
		if len(c.Values) > 0 {
			cond.values = c.Values
			if len(c.Values) > 1 {
				cond.values = slices.Compact(slices.Sorted(slices.Values(c.Values)))
			}
		}
		conds = append(conds, cond)
	}
	return conds, nil
}

// smallest counts the buckets, each no further than the smallest before it.
func (s *Snapshot[T]) smallest(q Query, conds []condition[T]) Plan {
	p := Plan{Candidates: math.MaxInt}
	for i := range conds {
		n := conds[i].count(q, p.Candidates)
		p.Sizes = append(p.Sizes, n)
		if n < p.Candidates {
			p.First, p.Candidates = i, n
		}
	}
	return p
}

// start is the first key that can be in the answer.
func (q *Query) start() object.Key {
	from := object.Key{Namespace: q.Namespace}
	if q.Namespace == "" || q.After != (object.Key{}) && q.After.Compare(from) > 0 {
		from = q.After
	}
	return from
}

// place says where a key lies. Keys of one namespace are neighbours, apart from
// strange ones: see Snapshot.Prefix.
func (q *Query) place(key object.Key) (in, past bool) {
	switch {
	case key == q.After:
		return false, false
	case q.Namespace == "" || key.Namespace == q.Namespace:
		return true, false
	}
	return false, !strings.HasPrefix(key.String(), q.Namespace+"/")
}

// inOrder calls f for the slots within the query's namespace and behind After,
// until it returns false.
func (s *Snapshot[T]) inOrder(q Query, f func(*slot[T]) bool) {
	var p path[*slot[T]]
	for s.order.seek(probe[T](q.start()), &p); p.valid(); p.skip(0) {
		for _, at := range p.rest() {
			in, past := q.place(at.key)
			if past || in && !f(at) {
				return
			}
		}
	}
}

// each calls f for the slots of the condition, in the order of keys and each
// once, until it returns false.
func (c *condition[T]) each(q Query, f func(*slot[T]) bool) {
	if len(c.values) == 1 {
		c.bucket(q, c.values[0], f)
		return
	}
	var slots []*slot[T]
	c.unordered(q, func(at *slot[T]) bool { slots = append(slots, at); return true })
	slices.SortFunc(slots, (*slot[T]).Compare)
	for _, at := range slices.Compact(slots) {
		if !f(at) {
			return
		}
	}
}

// count returns how many postings the condition has, or any number above limit
// if there are more.
func (c *condition[T]) count(q Query, limit int) (n int) {
	switch {
	case len(c.values) == 1 && q.Namespace == "" && q.After == (object.Key{}):
		return count(c.view, c.values[0], limit)
	case c.values == nil && q.Namespace == "" && q.After == (object.Key{}):
		return c.view.len
	}
	c.unordered(q, func(*slot[T]) bool { n++; return n <= limit })
	return n
}

// unordered calls f for the slots of each bucket; one that has several values is
// seen several times.
func (c *condition[T]) unordered(q Query, f func(*slot[T]) bool) {
	if c.values != nil {
		more := true
		for _, val := range c.values {
			c.bucket(q, val, func(at *slot[T]) bool { more = f(at); return more })
			if !more {
				return
			}
		}
		return
	}
	for p := range c.view.all() {
		if in, _ := q.place(p.slot.key); !in || q.After != (object.Key{}) && p.slot.key.Compare(q.After) < 0 {
			continue
		}
		if !f(p.slot) {
			return
		}
	}
}

// bucket calls f for the slots under one value.
func (c *condition[T]) bucket(q Query, val string, f func(*slot[T]) bool) {
	var p path[posting[T]]
	for c.view.seek(posting[T]{val, probe[T](q.start())}, &p); p.valid(); p.skip(0) {
		for _, it := range p.rest() {
			if it.value != val {
				return
			}
			in, past := q.place(it.slot.key)
			if past || in && !f(it.slot) {
				return
			}
		}
	}
}

// holds reports whether a stored object satisfies the condition. Most remember
// their values; of those older than the index, the index itself is asked.
func (c *condition[T]) holds(e *entry[T]) bool {
	if e.generation >= c.born {
		vals := of(e.vals, c.id)
		if c.values == nil {
			return len(vals) > 0 && !failed(vals)
		}
		return slices.ContainsFunc(vals, func(v value) bool { return !v.failed && slices.Contains(c.values, v.value) })
	}
	if c.values == nil {
		if c.members == nil {
			c.members = make(map[*slot[T]]struct{}, c.view.len)
			for p := range c.view.all() {
				c.members[p.slot] = struct{}{}
			}
		}
		_, ok := c.members[e.slot]
		return ok
	}
	return slices.ContainsFunc(c.values, func(val string) bool {
		var p path[posting[T]]
		return c.view.find(posting[T]{val, e.slot}, &p)
	})
}
