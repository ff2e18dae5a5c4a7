package main

import (
	"testing"
	"testing/synctest"

	"informer.example/docs/examples/internal/exampletest"
)

func TestSimpleIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exampletest.NewServer(t).Start(run)
		p.Expect("node node-1: [default/web-0]", "node node-2: [data/db-0 default/web-1]") // web-2 has no node
		p.Done()
	})
}
