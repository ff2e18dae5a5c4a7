package main

import (
	"testing"
	"testing/synctest"

	"informer.example/docs/examples/internal/exampletest"
)

func TestFieldIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exampletest.NewServer(t).Start(run)
		p.Expect(
			"image registry.example/db:1: [data/db-0]",
			"image registry.example/web:1: [default/web-0 default/web-1 default/web-2]",
		)
		p.Done()
	})
}
