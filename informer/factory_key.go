package informer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// factoryKey says which objects an informer has and what they are decoded into.
// Requests that agree in it share an informer; any other has its own.
type factoryKey struct {
	resource       schema.GroupVersionResource
	object         reflect.Type
	namespaces     string // in order, by commas; "" is all
	labels, fields string // selectors, in one form however they were written
}

// key checks a request and returns the key of the informer that it is for. It
// puts what was written in different ways into one form.
func (w *wanted) key(resource schema.GroupVersionResource, object reflect.Type) (factoryKey, error) {
	if clusterScoped(resource) {
		w.namespaces = nil
	}
	switch {
	case w.namespaces != nil && len(w.namespaces) == 0:
		return factoryKey{}, errors.New("informer: WithNamespaces needs a namespace; leave it out for all of them")
	case slices.Contains(w.namespaces, ""):
		return factoryKey{}, errors.New(`informer: WithNamespaces has "" among its namespaces; leave it out for all of them`)
	}
	labelSelector, err := labels.Parse(w.labelSelector)
	if err != nil {
		return factoryKey{}, &ListOptionsError{Option: "LabelSelector", Value: w.labelSelector, Err: err}
	}
	fieldSelector, err := fields.ParseSelector(w.fieldSelector)
	if err != nil {
		return factoryKey{}, &ListOptionsError{Option: "FieldSelector", Value: w.fieldSelector, Err: err}
	}
	var terms []string
	requirements, _ := labelSelector.Requirements()
	for _, r := range requirements {
		terms = append(terms, r.String())
	}
	w.labelSelector = inOrder(terms)
	terms = nil
	for _, r := range fieldSelector.Requirements() {
		terms = append(terms, r.Field+string(r.Operator)+fields.EscapeValue(r.Value))
	}
	w.fieldSelector = inOrder(terms)
	return factoryKey{
		resource: resource, object: object,
		namespaces: strings.Join(w.namespaces, ","),
		labels:     w.labelSelector, fields: w.fieldSelector,
	}, nil
}

func inOrder(terms []string) string {
	slices.Sort(terms)
	return strings.Join(slices.Compact(terms), ",")
}

// MismatchError says that a factory has the informer that was asked for, but
// with another transform or filter, so that its objects aren't the ones that
// were asked for. If both differ, there is one error for each, joined.
type MismatchError struct {
	Name    string // of the informer
	Setting string // "transform" or "filter"
	// Have is the name of the informer's, Asked that of the request's; "" is none.
	Have, Asked string
}

func (e *MismatchError) Error() string {
	named := func(name string) string {
		if name == "" {
			return "no " + e.Setting
		}
		return fmt.Sprintf("%s %q", e.Setting, name)
	}
	if e.Have == e.Asked {
		return fmt.Sprintf("%s: the factory's informer has another %s than the one asked for, of the same name: make it once, and give all requests the same pointer",
			e.Name, named(e.Have))
	}
	return fmt.Sprintf("%s: the factory's informer has %s, and %s was asked for: ask for the same, or use a factory of its own",
		e.Name, named(e.Have), named(e.Asked))
}

// mismatch compares the informer's functions with those of a request.
func (w *wanted) mismatch(name string, asked *wanted) error {
	differ := func(setting string, have, asked function) error {
		if have == asked { // pointers
			return nil
		}
		e := &MismatchError{Name: name, Setting: setting}
		if have != nil {
			e.Have = have.label()
		}
		if asked != nil {
			e.Asked = asked.label()
		}
		return e
	}
	return errors.Join(differ("transform", w.transform, asked.transform), differ("filter", w.filter, asked.filter))
}
