package apisim

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
)

// TestF49_DeletedTogether: a group larger than a batch of the watch shares one
// RV and arrives whole: a batch that ended inside it would lose the rest.
func TestF49_DeletedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		var names []types.NamespacedName
		for i := range watchBatch + 50 {
			name := fmt.Sprintf("p%04d", i)
			put(t, s, pod("a", name))
			names = append(names, types.NamespacedName{Namespace: "a", Name: name})
		}
		rv := s.ResourceVersion()
		if err := s.DeleteTogether(Pods().GVR, names[0], names[0]); err == nil {
			t.Error("a name twice is accepted")
		}
		if err := s.DeleteTogether(Pods().GVR, names[0], types.NamespacedName{Name: "none"}); err == nil || s.ResourceVersion() != rv {
			t.Errorf("a missing object: %v, at %s", err, s.ResourceVersion())
		}
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion="+rv+"&timeoutSeconds=1")
		if err := s.DeleteTogether(Pods().GVR, names...); err != nil {
			t.Fatal(err)
		}
		events, _ := w.rest(t)
		if len(events) != len(names) {
			t.Errorf("%d events, want %d", len(events), len(names))
		}
	})
}
