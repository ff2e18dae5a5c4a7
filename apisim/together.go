package apisim

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// DeleteTogether removes objects in one revision, so that their DELETED events
// share an RV: what etcd does with the keys of a lease that has expired. All of
// them must exist; if not, nothing is removed. Finalizers hold nothing here.
func (s *Server) DeleteTogether(gvr schema.GroupVersionResource, names ...types.NamespacedName) error {
	t, err := s.table(gvr)
	if err != nil {
		return err
	}
	for {
		writes := make([]change, 0, len(names))
		seen := make(map[string]bool, len(names))
		for _, n := range names {
			key := objectKey(n.Namespace, n.Name)
			cur := s.store.get(t, key)
			if cur == nil {
				return apierrors.NewNotFound(t.res.groupResource(), n.Name)
			}
			if seen[key] {
				return apierrors.NewBadRequest(fmt.Sprintf("%s is named twice", key))
			}
			seen[key] = true
			next := newRevision(&t.res, key, cur.obj.DeepCopyObject())
			next.deleted = true
			writes = append(writes, change{next, cur})
		}
		if len(writes) == 0 || s.store.commit(t, writes...) {
			return nil
		}
	}
}
