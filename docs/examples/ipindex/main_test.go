package main

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/docs/examples/internal/exampletest"
)

func TestIPIndex(t *testing.T) {
	for _, tc := range []struct {
		ip   string
		want []string
	}{
		{"10.0.2.2", []string{"1 pods have IP 10.0.2.2", "  default/web-1 on node node-2"}},
		{"10.9.9.9", []string{"0 pods have IP 10.9.9.9"}},
		{"", []string{"1 pods have IP 10.0.1.1", "  default/web-0 on node node-1"}},
		{"192.168.0.2", []string{"2 pods have IP 192.168.0.2", "  kube-system/cni-0 on node node-2", "  kube-system/proxy-0 on node node-2"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := exampletest.NewServer(t)
			// Pods in the network of their node share its address.
			server.Put(exampletest.Pod("kube-system", "proxy-0", "node-2", "192.168.0.2", corev1.PodRunning))
			server.Put(exampletest.Pod("kube-system", "cni-0", "node-2", "192.168.0.2", corev1.PodRunning))
			p := server.Start(with(tc.ip))
			p.Expect(tc.want...)
			p.Done()
		})
	}
}

func TestIPIndexNoIPs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		server.RemoveAll()
		p := server.Start(with(""))
		p.Expect("no pod has an IP")
		p.Done()
	})
}

func with(ip string) example.Program {
	return func(ctx context.Context, cfg *rest.Config, out io.Writer) error { return run(ctx, cfg, out, ip) }
}
