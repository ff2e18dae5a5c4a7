package main

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"informer.example/docs/examples/internal/exampletest"
)

func TestKeyIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		server.Put(exampletest.Pod("staging", "web-0", "", "", corev1.PodPending))
		p := server.Start(run)
		p.Expect(
			"name db-0: [data/db-0]",
			"name web-0: [default/web-0 staging/web-0]",
			"name web-1: [default/web-1]",
			"name web-2: [default/web-2]",
		)
		p.Done()
	})
}
