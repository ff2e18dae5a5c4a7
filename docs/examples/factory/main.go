// Command factory makes informers for two resources, starts them together, and
// waits until both hold what the server holds.
//
//	go run ./docs/examples/factory
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/informer"
)

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	// A resync replays the cache to the handlers every 10 seconds. It asks the
	// server nothing.
	factory := informer.NewFactory(cfg, informer.WithResync(10*time.Second))
	defer factory.Shutdown()

	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	nodes, err := informer.For[*corev1.Node](factory)
	if err != nil {
		return err
	}

	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "synced: %d pods, %d nodes\n", pods.GetIndexer().Len(), nodes.GetIndexer().Len())
	return nil
}
