package apisim

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/sharding"
)

// selector says which objects a list or a watch covers.
type selector struct {
	namespace string // "" for all
	label     labels.Selector
	field     fields.Selector
	shard     sharding.Selector // nil for all
}

// unfiltered reports that no label, field or shard selector is set.
func (s selector) unfiltered() bool {
	return s.shard == nil && (s.label == nil || s.label.Empty()) && (s.field == nil || s.field.Empty())
}

func (s selector) matches(r *revision) bool {
	if r == nil || r.deleted || s.namespace != "" && s.namespace != r.namespace {
		return false
	}
	if s.shard != nil {
		// It can fail only for a field that the parser refuses.
		if in, err := s.shard.Matches(r.obj); err != nil || !in {
			return false
		}
	}
	if s.label != nil && !s.label.Empty() && !s.label.Matches(r.labels) {
		return false
	}
	return s.field == nil || s.field.Empty() || s.field.Matches(r.fields())
}
