// Command monitor says which pods are created, updated and deleted, until it
// is stopped.
//
//	go run ./docs/examples/monitor
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
	factory := informer.NewFactory(cfg, informer.WithResync(time.Minute))
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	_, err = pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		// Also called for every pod that exists already.
		AddFunc: func(pod *corev1.Pod) {
			fmt.Fprintln(out, "Pod created:", pod.Name)
		},
		// A resync calls it with the same pod twice.
		UpdateFunc: func(before, after *corev1.Pod) {
			if before != after {
				fmt.Fprintln(out, "Pod updated:", after.Name, before.ResourceVersion, "->", after.ResourceVersion)
			}
		},
		DeleteFunc: func(pod *corev1.Pod, finalStateKnown bool) {
			fmt.Fprintln(out, "Pod deleted:", pod.Name)
		},
	})
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err // a cluster that can't be reached, or read, is not a quiet one
	}
	<-ctx.Done()
	return nil
}
