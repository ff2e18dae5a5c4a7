// Command simpleindex groups pods by one value that a function returns: the node.
//
//	go run ./docs/examples/simpleindex
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

const byNode = "byNode"

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	err = pods.AddIndexers(indexer.Indexers[*corev1.Pod]{
		// "" means: not in this index. Such pods wait for a node.
		byNode: indexer.SimpleIndex(func(pod *corev1.Pod) string { return pod.Spec.NodeName }),
	})
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}

	// All answers come from one moment.
	now := pods.Snapshot()
	for _, node := range now.ListIndexFuncValues(byNode) {
		keys, err := now.IndexKeys(byNode, node)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "node %s: %v\n", node, keys)
	}
	return nil
}
