package contract

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// version is a state of a pod.
type version struct{ uid, rv string }

// state is what there is, by key.
type state map[string]version

func (s state) String() string {
	var all []string
	for k, v := range s {
		all = append(all, k+"@"+v.rv)
	}
	slices.Sort(all)
	if len(all) > 12 {
		all = append(all[:12], fmt.Sprintf("and %d more", len(all)-12))
	}
	return "[" + strings.Join(all, " ") + "]"
}

func equal(a, b state) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// fullKey is the key of a name, which is in default unless it says otherwise.
func fullKey(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "default/" + name
}

// store is what the Subject's store holds.
func (w *world) store() state {
	s := make(state)
	for _, pod := range w.subject.List() {
		s[keyOf(pod)] = version{string(pod.UID), pod.ResourceVersion}
	}
	return s
}
