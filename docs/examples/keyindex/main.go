// Command keyindex finds pods by name, whatever their namespace.
//
//	go run ./docs/examples/keyindex
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

const byName = "byName"

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	err = pods.AddIndexers(indexer.Indexers[*corev1.Pod]{byName: indexer.KeyIndex[*corev1.Pod]()})
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}

	// All answers come from one moment.
	now := pods.Snapshot()
	for _, name := range now.ListIndexFuncValues(byName) {
		keys, err := now.IndexKeys(byName, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "name %s: %v\n", name, keys)
	}
	return nil
}
