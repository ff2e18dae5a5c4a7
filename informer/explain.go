package informer

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// Explanation says how a list with some options is answered, at present. Its
// String is for people; the wording is no promise.
type Explanation struct {
	Namespace string // "" is all
	Objects   int    // in the store
	// Key is the only one that can be meant, nil if there may be others.
	Key *object.Key
	// Index is the one whose bucket is gone through; "" if the objects are gone
	// through in the order of keys.
	Index string
	// Buckets are all the conditions that an index answers.
	Buckets []Bucket
	// Candidates is how many objects are looked at: those of the smallest bucket,
	// or without one all of the namespace.
	Candidates int
	// Checks are the conditions that are checked against each candidate itself.
	Checks []string
	// Skipped are indexes that would have fitted, and why they can't be used.
	Skipped []string
}

// Bucket is a condition that an index answers.
type Bucket struct {
	Condition string
	Index     string
	// Size is how many objects there are; a bucket that is larger than one
	// before it is not counted to its end.
	Size int
}

// Explain says how List would answer. It costs as much as finding the smallest
// bucket does; no object is looked at.
func (l Lister[T]) Explain(opts metav1.ListOptions) (Explanation, error) { return l.explain("", opts) }

// Explain is [Lister.Explain] within the namespace.
func (l NamespaceLister[T]) Explain(opts metav1.ListOptions) (Explanation, error) {
	return l.lister.explain(l.namespace, opts)
}

// Explain is [Lister.Explain].
func (i *Informer[T]) Explain(opts metav1.ListOptions) (Explanation, error) {
	return i.Lister().Explain(opts)
}

func (l Lister[T]) explain(namespace string, opts metav1.ListOptions) (Explanation, error) {
	if err := checkListOptions(opts); err != nil {
		return Explanation{}, err
	}
	q, err := compile[T](namespace, l.ownKeys, opts)
	if err != nil {
		return Explanation{}, err
	}
	s, _ := l.snapshot()
	if q.name != "" && q.namespace != "" {
		e := Explanation{Namespace: q.namespace, Key: &object.Key{Namespace: q.namespace, Name: q.name}, Objects: s.Len()}
		if _, ok := s.Item(*e.Key); ok {
			e.Candidates = 1
		}
		e.Checks = checks(q.labels, q.fields)
		return e, nil
	}
	c := q.choose(s, object.Key{})
	plan, err := s.Plan(c.ask)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Namespace: q.namespace, Objects: s.Len(), Candidates: plan.Candidates, Skipped: c.skipped}
	for i, where := range c.ask.Where {
		e.Buckets = append(e.Buckets, Bucket{Condition: c.terms[i], Index: where.Index, Size: plan.Sizes[i]})
	}
	if plan.First >= 0 {
		e.Index = c.ask.Where[plan.First].Index
	}
	e.Checks = checks(c.labels, c.fields)
	return e, nil
}

func checks[T metav1.Object](labels []labelTerm, fields []fieldTerm[T]) (list []string) {
	for _, term := range labels {
		list = append(list, term.String())
	}
	for _, term := range fields {
		list = append(list, term.String())
	}
	return list
}

// String reads as
//
//	index status.phase: 12 of 5000 objects, then check app=web
func (e Explanation) String() string {
	var b strings.Builder
	switch {
	case e.Key != nil:
		fmt.Fprintf(&b, "key %s", e.Key)
	case e.Index != "":
		fmt.Fprintf(&b, "index %s", e.Index)
	case e.Namespace != "":
		fmt.Fprintf(&b, "all of namespace %s", e.Namespace)
	default:
		b.WriteString("all objects")
	}
	fmt.Fprintf(&b, ": %d of %d objects", e.Candidates, e.Objects)
	if e.Index != "" && e.Namespace != "" {
		fmt.Fprintf(&b, ", within namespace %s", e.Namespace)
	}
	for _, bucket := range e.Buckets {
		if bucket.Index != e.Index {
			fmt.Fprintf(&b, ", then those in index %s (%d or more)", bucket.Index, bucket.Size)
		}
	}
	if len(e.Checks) > 0 {
		fmt.Fprintf(&b, ", then check %s", strings.Join(e.Checks, " and "))
	}
	for _, why := range e.Skipped {
		fmt.Fprintf(&b, "; index not used: %s", why)
	}
	return b.String()
}
