package main

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/docs/examples/internal/exampletest"
)

func TestWorkqueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		p := server.Start(run)
		p.ExpectInAnyOrder(
			"pod added: data/db-0", "reconciled data/db-0: it is Running",
			"pod added: default/web-0", "reconciled default/web-0: it is Running",
			"pod added: default/web-1", "reconciled default/web-1: it is Running",
			"pod added: default/web-2", // Pending: its key waits for another try
		)
		time.Sleep(5 * time.Millisecond) // the second try
		p.Expect()
		time.Sleep(10 * time.Millisecond) // the third
		p.Expect("giving up on default/web-2: it is still Pending")

		// Its next change puts it into the queue again.
		server.Put(exampletest.Pod("default", "web-2", "node-1", "10.0.1.2", corev1.PodRunning))
		p.Expect("pod updated: default/web-2", "reconciled default/web-2: it is Running")

		server.Remove("data", "db-0")
		p.Expect("pod deleted: data/db-0", "reconciled data/db-0: it is gone")
		p.Stop()
	})
}
