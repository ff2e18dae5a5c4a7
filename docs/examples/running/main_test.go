package main

import (
	"testing"
	"testing/synctest"

	"informer.example/docs/examples/internal/exampletest"
)

func TestRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exampletest.NewServer(t).Start(run)
		p.Expect("Pod: db-0", "Pod: web-0", "Pod: web-1") // not web-2
		p.Done()
	})
}
