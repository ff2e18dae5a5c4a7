package main

import (
	"testing"

	"informer.example/apisim"
)

// Cluster-scoped resources were once filled with objects in a namespace, which
// the server refuses, though the command lists them as available.
func TestEveryResourceOfTheEmbeddedServerIsFilled(t *testing.T) {
	for _, r := range apisim.BuiltIns() {
		server := newEmbedded()
		if err := server.populate(t.Context(), r.GVR, r.Namespaced, 3, 0); err != nil {
			t.Errorf("%s: %v", r.GVR.Resource, err)
		}
		objects, _, err := server.List(r.GVR, "")
		if err != nil || len(objects) != 3 {
			t.Errorf("%s: %d objects, %v; want 3", r.GVR.Resource, len(objects), err)
		}
		server.stop()
	}
}
