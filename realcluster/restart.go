package realcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
)

// ErrStopped is returned by methods that need a cluster that Stop has ended.
var ErrStopped = errors.New("the cluster has been stopped")

// StopAPIServer stops kube-apiserver and leaves etcd running. Clients get
// "connection refused" until StartAPIServer. It does nothing if it is stopped.
func (c *Cluster) StopAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopAPIServer(ctx)
}

func (c *Cluster) stopAPIServer(ctx context.Context) error {
	if err := c.usable(ctx); err != nil || !c.serving {
		return err
	}
	server := c.env.ControlPlane.APIServer
	server.StopTimeout = timeLeft(ctx)
	c.serving = false
	if err := server.Stop(); err != nil {
		return fmt.Errorf("stop kube-apiserver: %w", err)
	}
	return nil
}

// KillAPIServer ends kube-apiserver as a crash does: connections break and nobody
// is told. StartAPIServer starts it again. It does nothing if the server is stopped.
func (c *Cluster) KillAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.usable(ctx); err != nil || !c.serving {
		return err
	}
	text, err := os.ReadFile(pidFile(c.dir, "kube-apiserver"))
	if err != nil {
		return fmt.Errorf("kill kube-apiserver: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("kill kube-apiserver: its process id: %w", err)
	}
	// Its guard ends by itself then, and the stop sees that.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill kube-apiserver, process %d: %w", pid, err)
	}
	return c.stopAPIServer(ctx)
}

// StartAPIServer starts kube-apiserver again after StopAPIServer, with the same
// address, certificates and data. Its watch cache starts empty, so it knows no
// history: a watch from an older resourceVersion gets 410 Expired. For about a
// second after it is ready it may answer 429 for custom resources, whose caches
// fill later. It does nothing if the server runs.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.startAPIServer(ctx)
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	if err := c.usable(ctx); err != nil || c.serving {
		return err
	}
	server := c.env.ControlPlane.APIServer
	server.StartTimeout = timeLeft(ctx)
	if err := server.Start(); err != nil {
		return fmt.Errorf("start kube-apiserver again: %w%s", err, c.lastWords())
	}
	c.serving = true
	return c.waitReady(ctx)
}

// RestartAPIServer stops and starts kube-apiserver.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.stopAPIServer(ctx); err != nil {
		return err
	}
	return c.startAPIServer(ctx)
}

func (c *Cluster) usable(ctx context.Context) error {
	if c.stopped {
		return ErrStopped
	}
	return ctx.Err()
}

// waitReady returns when /readyz says so. envtest asks /healthz, which is true
// while some caches are still filling.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("make a client for kube-apiserver: %w", err)
	}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		_, err := client.RESTClient().Get().AbsPath("/readyz").MaxRetries(0).DoRaw(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for kube-apiserver to be ready: %w; its last answer: %v", ctx.Err(), err)
		case <-poll.C:
		}
	}
}
