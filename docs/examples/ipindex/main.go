// Command ipindex looks pods up by IP address, through an index of its own.
//
//	go run ./docs/examples/ipindex
//	go run ./docs/examples/ipindex -ip 10.64.0.3
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/indexer"
	"informer.example/informer"
)

const byIP = "byIP"

func main() {
	ip := flag.String("ip", "", "the `address` to look up; the first pod's if empty")
	example.Main(func(ctx context.Context, cfg *rest.Config, out io.Writer) error {
		return run(ctx, cfg, out, *ip)
	})
}

func run(ctx context.Context, cfg *rest.Config, out io.Writer, ip string) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	// One object may be found under several values, or under none.
	err = pods.AddIndexers(indexer.Indexers[*corev1.Pod]{
		byIP: func(pod *corev1.Pod) ([]string, error) {
			var ips []string
			for _, ip := range pod.Status.PodIPs {
				ips = append(ips, ip.IP)
			}
			return ips, nil
		},
	})
	if err != nil {
		return err
	}
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}

	if ip == "" {
		known := pods.GetIndexer().ListIndexFuncValues(byIP)
		if len(known) == 0 {
			fmt.Fprintln(out, "no pod has an IP")
			return nil
		}
		ip = known[0]
	}
	found, err := pods.GetIndexer().ByIndex(byIP, ip)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d pods have IP %s\n", len(found), ip)
	for _, pod := range found {
		fmt.Fprintf(out, "  %s/%s on node %s\n", pod.Namespace, pod.Name, pod.Spec.NodeName)
	}
	return nil
}
