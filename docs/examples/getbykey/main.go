// Command getbykey looks one pod up in the cache by its key, namespace/name.
//
//	go run ./docs/examples/getbykey
//	go run ./docs/examples/getbykey -pod team-03/app-03-… -kubeconfig FILE
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/informer"
)

func main() {
	key := flag.String("pod", "", "`namespace/name` of the pod; the first one if empty")
	example.Main(func(ctx context.Context, cfg *rest.Config, out io.Writer) error {
		return run(ctx, cfg, out, *key)
	})
}

func run(ctx context.Context, cfg *rest.Config, out io.Writer, key string) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}

	if key == "" {
		keys := pods.GetIndexer().ListKeys()
		if len(keys) == 0 {
			fmt.Fprintln(out, "there are no pods")
			return nil
		}
		key = keys[0]
	}
	pod, exists, err := pods.GetIndexer().GetByKey(key)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no pod %s", key)
	}
	fmt.Fprintf(out, "pod %s has IP %q\n", key, pod.Status.PodIP)
	return nil
}
