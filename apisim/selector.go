package apisim

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector says which objects a list or a watch covers.
type selector struct {
	namespace string // "" for all
	label     labels.Selector
	field     fields.Selector
}

// unfiltered reports that no label or field selector is set.
func (s selector) unfiltered() bool {
	return (s.label == nil || s.label.Empty()) && (s.field == nil || s.field.Empty())
}

func (s selector) matches(r *revision) bool {
	if r == nil || r.deleted || s.namespace != "" && s.namespace != r.namespace {
		return false
	}
	if s.label != nil && !s.label.Empty() && !s.label.Matches(r.labels) {
		return false
	}
	return s.field == nil || s.field.Empty() || s.field.Matches(r.fields())
}
