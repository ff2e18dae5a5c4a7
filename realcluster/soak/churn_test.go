package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/apisim"
	"informer.example/realcluster/wire"
)

const namespaces = 4

// churn writes to the server, past the proxy. Writes fail while the server is
// away; nobody needs to know which, since the server's list is the truth.
type churn struct {
	kube    kubernetes.Interface
	widgets dynamic.NamespaceableResourceInterface
	next    atomic.Int64 // number of the next object
	wrote   atomic.Int64
	failed  atomic.Int64
}

func newChurn(t *testing.T, config *rest.Config) *churn {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Timeout = 30 * time.Second // more than a busy machine needs
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &churn{kube: kube, widgets: dyn.Resource(wire.WidgetResource())}
	for i := range namespaces {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace(int64(i))}}
		if _, err := kube.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func namespace(i int64) string { return fmt.Sprintf("soak-%d", i%namespaces) }

func podName(i int64) string { return fmt.Sprintf("pod-%06d", i) }

func widgetName(i int64) string { return fmt.Sprintf("widget-%06d", i) }

// fill creates the pods, and a widget for each twenty.
func (c *churn) fill(t *testing.T, n int) {
	t.Helper()
	errs := make(chan error, 8)
	var wg sync.WaitGroup
	for range cap(errs) {
		wg.Go(func() {
			for i := c.next.Add(1) - 1; i < int64(n); i = c.next.Add(1) - 1 {
				err := c.createPod(t.Context(), i)
				if err == nil && i%20 == 0 {
					err = c.createWidget(t.Context(), i)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
}

func (c *churn) createPod(ctx context.Context, i int64) error {
	pod := apisim.RealisticPod(int(i))
	pod.Namespace, pod.Name = namespace(i), podName(i)
	pod.ManagedFields = nil // the server keeps its own
	_, err := c.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

func (c *churn) createWidget(ctx context.Context, i int64) error {
	_, err := c.widgets.Namespace(namespace(i)).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "demo.informer.example/v1", "kind": "Widget",
		"metadata": map[string]any{"name": widgetName(i)},
		"spec":     map[string]any{"color": "größer <&>\u2028", "serial": int64(9007199254740993), "weight": 0.5},
	}}, metav1.CreateOptions{})
	return err
}

// run writes until ctx ends, at so many writes a second.
func (c *churn) run(ctx context.Context, perSecond float64, rng *rand.Rand) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.write(ctx, rng); err != nil {
			c.failed.Add(1)
		} else {
			c.wrote.Add(1)
		}
	}
}

func (c *churn) write(ctx context.Context, rng *rand.Rand) error {
	i := rng.Int64N(c.next.Load())
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touch":"%d"}}}`, rng.Int64())
	switch n := rng.IntN(100); {
	case n < 10:
		return c.createPod(ctx, c.next.Add(1)-1)
	case n < 20:
		return c.kube.CoreV1().Pods(namespace(i)).Delete(ctx, podName(i), now)
	case n < 25: // the same name, another object
		if err := c.kube.CoreV1().Pods(namespace(i)).Delete(ctx, podName(i), now); err != nil {
			return err
		}
		return c.createPod(ctx, i)
	case n < 85:
		_, err := c.kube.CoreV1().Pods(namespace(i)).Patch(ctx, podName(i), types.MergePatchType, touch, metav1.PatchOptions{})
		return err
	case n < 90:
		return c.createWidget(ctx, c.next.Add(1)-1)
	case n < 93:
		i -= i % 20
		return c.widgets.Namespace(namespace(i)).Delete(ctx, widgetName(i), metav1.DeleteOptions{})
	default:
		i -= i % 20
		_, err := c.widgets.Namespace(namespace(i)).Patch(ctx, widgetName(i), types.MergePatchType, touch, metav1.PatchOptions{})
		return err
	}
}

// touchAll writes one object of each resource, so that every watch has news.
func (c *churn) touchAll(t *testing.T) {
	t.Helper()
	if err := c.createPod(t.Context(), c.next.Add(1)-1); err != nil {
		t.Fatal(err)
	}
	if err := c.createWidget(t.Context(), c.next.Add(1)-1); err != nil {
		t.Fatal(err)
	}
}
