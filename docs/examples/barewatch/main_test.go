package main

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"informer.example/docs/examples/internal/exampletest"
)

func TestBareWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		p := server.Start(run)
		p.Expect(
			"ADDED happened to pod db-0",
			"ADDED happened to pod web-0",
			"ADDED happened to pod web-1",
			"ADDED happened to pod web-2",
		)
		server.Put(exampletest.Pod("default", "web-2", "node-1", "10.0.1.2", corev1.PodRunning))
		server.Remove("data", "db-0")
		p.Expect("MODIFIED happened to pod web-2", "DELETED happened to pod db-0")

		server.CloseWatches()
		p.Expect("the server ended the watch")
		p.Done()
	})
}

func TestBareWatchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exampletest.NewServer(t).Start(run).Stop()
	})
}
