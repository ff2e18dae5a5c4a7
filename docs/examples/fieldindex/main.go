// Command fieldindex groups pods by a nested field, named by its path:
// the image of each container.
//
//	go run ./docs/examples/fieldindex
package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/indexer"
	"informer.example/informer"
)

const byImage = "byImage"

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	// The path is checked against the type: a misspelt field is an error here,
	// not an index that stays empty.
	images, err := indexer.FieldIndex[*corev1.Pod]("spec.containers.image")
	if err != nil {
		return err
	}
	err = pods.AddIndexers(indexer.Indexers[*corev1.Pod]{byImage: images})
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}

	// All answers come from one moment.
	now := pods.Snapshot()
	for _, image := range now.ListIndexFuncValues(byImage) {
		keys, err := now.IndexKeys(byImage, image)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "image %s: %v\n", image, keys)
	}
	return nil
}
