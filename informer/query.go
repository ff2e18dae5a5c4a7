package informer

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"informer.example/indexer"
	"informer.example/object"
)

// query is the compiled form of a list's options. It belongs to one call.
type query[T metav1.Object] struct {
	namespace string // "" is all
	name      string // with namespace: no other object can be meant
	labels    []labelTerm
	fields    []fieldTerm[T]
	id        string // what a Continue token is bound to
	vals      []string
}

type labelTerm struct{ labels.Requirement }

// fieldTerm is one condition of a field selector.
type fieldTerm[T metav1.Object] struct {
	field indexer.Field[T]
	value string
	equal bool // or not equal
}

func (t fieldTerm[T]) String() string {
	op := "!="
	if t.equal {
		op = "="
	}
	return t.field.Path() + op + fields.EscapeValue(t.value)
}

// compile reads the selectors. ownKeys says that keys are not the objects' own
// namespaces and names.
func compile[T metav1.Object](namespace string, ownKeys bool, opts metav1.ListOptions) (*query[T], error) {
	q := &query[T]{namespace: namespace}
	labelSelector, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, &ListOptionsError{Option: "LabelSelector", Value: opts.LabelSelector, Err: err}
	}
	fieldSelector, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return nil, &ListOptionsError{Option: "FieldSelector", Value: opts.FieldSelector, Err: err}
	}
	requirements, _ := labelSelector.Requirements()
	for _, req := range requirements {
		q.labels = append(q.labels, labelTerm{req})
	}
	for _, req := range fieldSelector.Requirements() {
		field, err := indexer.CompileField[T](req.Field)
		if err != nil {
			return nil, &ListOptionsError{Option: "FieldSelector", Value: opts.FieldSelector, Err: err}
		}
		q.fields = append(q.fields, fieldTerm[T]{field, req.Value, req.Operator != selection.NotEquals})
	}
	for _, term := range q.fields {
		if ownKeys || !term.equal {
			continue
		}
		switch term.field.Path() {
		case "metadata.namespace":
			q.namespace = cmp.Or(q.namespace, term.value) // checked as well
		case "metadata.name":
			q.name = term.value
		}
	}
	if opts.Limit > 0 || opts.Continue != "" {
		h := fnv.New64a()
		fmt.Fprintf(h, "%q %q %q", namespace, labelSelector, fieldSelector)
		q.id = fmt.Sprintf("%x", h.Sum64())
	}
	return q, nil
}

// choice is how a query is answered from one snapshot: what the store is asked,
// and what is left to be checked of each object that it answers with.
type choice[T metav1.Object] struct {
	ask     indexer.Query
	terms   []string // of ask.Where
	labels  []labelTerm
	fields  []fieldTerm[T]
	skipped []string // indexes that can't be used, and why
}

// choose gives each condition to an index if there is one for it.
func (q *query[T]) choose(s *indexer.Snapshot[T], after object.Key) choice[T] {
	c := choice[T]{ask: indexer.Query{Namespace: q.namespace, After: after}}
	use := func(name string, values []string, term string) {
		c.ask.Where = append(c.ask.Where, indexer.Condition{Index: name, Values: values})
		c.terms = append(c.terms, term)
	}
	for _, term := range q.labels {
		name, lacks, ok := s.LabelIndexName(term.Key())
		switch {
		case !ok || !term.indexable():
			c.labels = append(c.labels, term)
		case lacks > 0:
			c.skip(name, lacks)
			c.labels = append(c.labels, term)
		default:
			use(name, term.ValuesUnsorted(), term.String())
		}
	}
	for _, term := range q.fields {
		name, lacks, ok := s.FieldIndexName(term.field.Path())
		switch {
		case !ok || !term.equal || term.value == "":
			c.fields = append(c.fields, term)
		case lacks > 0:
			// The fields that can't be read must be met, and reported.
			c.skip(name, lacks)
			c.fields = append(c.fields, term)
		default:
			use(name, []string{term.value}, term.String())
		}
	}
	return c
}

func (c *choice[T]) skip(index string, lacks int) {
	c.skipped = append(c.skipped, fmt.Sprintf("%s lacks %d objects for which it failed", index, lacks))
}

// indexable reports whether an index of the label's values can answer the term.
func (t labelTerm) indexable() bool {
	switch t.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In, selection.Exists:
		return true
	}
	return false
}

// run yields what the query selects from a snapshot, behind a key. It ends with
// an error at an object in which a field can't be read.
func (q *query[T]) run(s *indexer.Snapshot[T], after object.Key) iter.Seq2[*object.Item[T], error] {
	return func(yield func(*object.Item[T], error) bool) {
		if q.name != "" && q.namespace != "" {
			q.one(s, after, yield)
			return
		}
		c := q.choose(s, after)
		items, err := s.Query(c.ask)
		if err != nil {
			yield(nil, err)
			return
		}
		for item := range items {
			ok, err := q.matches(&c, item.Object)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", item.Key, err))
				return
			}
			if ok && !yield(item, nil) {
				return
			}
		}
	}
}

// one is run for a query that one key alone can satisfy.
func (q *query[T]) one(s *indexer.Snapshot[T], after object.Key, yield func(*object.Item[T], error) bool) {
	key := object.Key{Namespace: q.namespace, Name: q.name}
	item, ok := s.Item(key)
	if !ok || after != (object.Key{}) && key.Compare(after) <= 0 {
		return
	}
	ok, err := q.matches(&choice[T]{labels: q.labels, fields: q.fields}, item.Object)
	switch {
	case err != nil:
		yield(nil, fmt.Errorf("%s: %w", key, err))
	case ok:
		yield(&item, nil)
	}
}

// matches checks what no index has checked. A field that is absent is the empty
// string, as it is for the API server.
func (q *query[T]) matches(c *choice[T], obj T) (bool, error) {
	if len(c.labels) > 0 {
		set := labels.Set(obj.GetLabels())
		for i := range c.labels {
			if !c.labels[i].Matches(set) {
				return false, nil
			}
		}
	}
	for i := range c.fields {
		term := &c.fields[i]
		values, err := term.field.AppendValues(q.vals[:0], obj)
		if err != nil {
			return false, &ListOptionsError{Option: "FieldSelector", Value: term.String(), Err: err}
		}
		q.vals = values[:0]
		found := len(values) == 0 && term.value == "" || slices.Contains(values, term.value)
		if found != term.equal {
			return false, nil
		}
	}
	return true, nil
}
