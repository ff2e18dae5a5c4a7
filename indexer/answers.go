package indexer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What index.answers holds: a condition of a selector whose objects are exactly
// those that the index has under the condition's value.

// fieldAnswer is the same for all ways to write a path.
func fieldAnswer(path string) string {
	steps, _ := parsePath(path)
	return "field " + strings.Join(steps, "\x00")
}

func labelAnswer(label string) string { return "label " + label }

// AddFieldIndexes adds an index for each field path, as [FieldIndex] makes it,
// under the name of the path. Queries with field selectors find these indexes
// by themselves; [FieldIndex] under a name of one's own is for ByIndex alone,
// since nobody can see of a function what it reads.
//
// A path that T doesn't have is a [*FieldError], and then none is added. A path
// that was added before is no error.
func (ix *Indexer[T]) AddFieldIndexes(paths ...string) error {
	indexers, answers := Indexers[T]{}, map[string]string{}
	for _, path := range paths {
		f, err := FieldIndex[T](path)
		if err != nil {
			return err
		}
		if ix.has(path, fieldAnswer(path)) {
			continue
		}
		indexers[path], answers[path] = f, fieldAnswer(path)
	}
	return ix.addIndexers(indexers, answers)
}

// AddLabelIndexes is AddFieldIndexes for labels: each index is a [LabelIndex]
// under the name [LabelIndexName] gives, and answers label selectors.
func (ix *Indexer[T]) AddLabelIndexes(labels ...string) error {
	indexers, answers := Indexers[T]{}, map[string]string{}
	for _, label := range labels {
		if name := LabelIndexName(label); !ix.has(name, labelAnswer(label)) {
			indexers[name], answers[name] = LabelIndex[T](label), labelAnswer(label)
		}
	}
	return ix.addIndexers(indexers, answers)
}

// has reports whether readers see an index of this name that answers the same.
func (ix *Indexer[T]) has(name, answers string) bool {
	return slices.ContainsFunc(ix.Snapshot().indexes, func(x indexView[T]) bool { return x.name == name && x.answers == answers })
}

// LabelIndex indexes by the value of one label. An object without the label is
// left out; one whose label is empty is under "".
func LabelIndex[T metav1.Object](label string) IndexFunc[T] {
	var one singles
	return func(obj T) ([]string, error) {
		if v, ok := obj.GetLabels()[label]; ok {
			return one.of(v), nil
		}
		return nil, nil
	}
}

// LabelIndexName is the name under which [Indexer.AddLabelIndexes] adds the
// index of a label.
func LabelIndexName(label string) string { return "metadata.labels[" + label + "]" }

// FieldIndexName returns the name of the index that was added for a field path,
// and how many objects it lacks because the field could not be read in them.
// The index has all others exactly under the values that [Field.Values] finds.
func (s *Snapshot[T]) FieldIndexName(path string) (name string, lacks int, ok bool) {
	return s.answering(fieldAnswer(path))
}

// LabelIndexName returns the name of the index that was added for a label.
func (s *Snapshot[T]) LabelIndexName(label string) (name string, lacks int, ok bool) {
	return s.answering(labelAnswer(label))
}

func (s *Snapshot[T]) answering(answers string) (name string, lacks int, ok bool) {
	for i := range s.indexes {
		if x := &s.indexes[i]; x.answers == answers {
			return x.name, x.left, true
		}
	}
	return "", 0, false
}
