// Command running lists the running pods, from the cache.
//
//	go run ./docs/examples/running
package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/informer"
)

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
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

	running, err := pods.Lister().List(metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil {
		return err
	}
	for _, pod := range running {
		fmt.Fprintln(out, "Pod:", pod.Name)
	}
	return nil
}
