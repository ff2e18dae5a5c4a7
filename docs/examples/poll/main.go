// Command poll finds out what changes in the hard way: it asks for everything,
// again and again, and compares.
//
//	go run ./docs/examples/poll
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/informer"
	"informer.example/naive"
	"informer.example/reflector"
)

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	if err := askOnce(ctx, cfg, out); err != nil {
		return err
	}
	return askForEver(ctx, cfg, out)
}

// askOnce is all that Get and List do: they say how it was at one moment.
func askOnce(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	fmt.Fprintf(out, "List: %d pods\n", len(pods.Items))
	if len(pods.Items) == 0 {
		return nil
	}
	first := pods.Items[0]
	pod, err := client.CoreV1().Pods(first.Namespace).Get(ctx, first.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get pod %s/%s: %w", first.Namespace, first.Name, err)
	}
	fmt.Fprintf(out, "Get: %s/%s is %s\n", pod.Namespace, pod.Name, pod.Status.Phase)
	return nil
}

// askForEver is the loop around them: keep the last list, compare the next one
// with it.
func askForEver(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	source, err := reflector.NewHTTPSource(cfg, pods, reflector.SourceOptions[*corev1.Pod]{})
	if err != nil {
		return err
	}
	handler := informer.HandlerFunc[*corev1.Pod](func(e informer.Event[*corev1.Pod]) {
		if !e.Initial {
			fmt.Fprintf(out, "%s %s\n", e.Type, e.Key)
		}
	})
	poller := naive.NewPoller(source, handler, naive.Options{
		Interval: time.Second,
		OnPoll: func(s naive.Stats) {
			if s.LastError != nil {
				fmt.Fprintln(out, s.LastError)
			}
		},
	})
	return poller.Run(ctx)
}
