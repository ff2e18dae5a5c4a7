package main

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/docs/examples/internal/exampletest"
)

func TestMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		p := server.Start(run)
		p.Expect("Pod created: db-0", "Pod created: web-0", "Pod created: web-1", "Pod created: web-2")

		server.Put(exampletest.Pod("default", "web-2", "node-1", "10.0.1.2", corev1.PodRunning)) // the fifth write
		p.Expect("Pod updated: web-2 104 -> 105")
		server.Remove("data", "db-0")
		p.Expect("Pod deleted: db-0")

		time.Sleep(3 * time.Minute) // three resyncs, which change nothing
		p.Expect()
		p.Stop()
	})
}
