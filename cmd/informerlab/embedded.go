package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
)

// widgets is the custom resource that the embedded server has.
var widgets = schema.GroupVersionResource{Group: "informerlab.example", Version: "v1", Resource: "widgets"}

// embedded is a simulated server in this process, with objects that change.
type embedded struct {
	*apisim.Server
	cancel  context.CancelFunc
	writers sync.WaitGroup
}

// Limits of the embedded server's flags.
const (
	maxEmbeddedObjects = 200_000
	maxEmbeddedRate    = 10_000
)

func validateEmbedded(objects, rate int) error {
	switch {
	case objects < 0 || objects > maxEmbeddedObjects:
		return usagef("--objects %d: must be from 0 to %d", objects, maxEmbeddedObjects)
	case rate < 0 || rate > maxEmbeddedRate:
		return usagef("--rate %d: must be from 0 to %d writes a second", rate, maxEmbeddedRate)
	}
	return nil
}

func newEmbedded() *embedded {
	return &embedded{Server: apisim.New(apisim.WithResource(apisim.CustomResource(widgets, "Widget", true)))}
}

// populate makes objects, unless ctx ends before, and changes them until stop.
func (e *embedded) populate(ctx context.Context, gvr schema.GroupVersionResource, namespaced bool, objects, rate int) error {
	lifetime, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	namespace := ""
	if namespaced {
		namespace = metav1.NamespaceDefault
	}
	fresh := func(i int) runtime.Object { return plainObject(namespace, i, 0) }
	churn := func() { e.changeEach(lifetime, gvr, namespace, objects, rate) }
	if gvr == apisim.Pods().GVR {
		fresh = func(i int) runtime.Object { return apisim.RealisticPod(i) }
		churn = func() { _ = e.Churn(lifetime, apisim.ChurnOptions{Rate: float64(rate), Next: objects}) }
	}
	for i := range objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := e.Create(gvr, fresh(i))
		if apierrors.IsNotFound(err) {
			return nil // no such resource; the list says so better
		}
		if err != nil {
			return fmt.Errorf("make an object of %s on the simulated server: %w", gvr.GroupResource(), err)
		}
	}
	if rate > 0 {
		e.writers.Go(churn)
	}
	return nil
}

func (e *embedded) stop() {
	if e.cancel != nil {
		e.cancel()
	}
	e.writers.Wait()
}

// changeEach writes to one object after the other: four updates, then a deletion
// or the creation of what was deleted a round before.
func (e *embedded) changeEach(ctx context.Context, gvr schema.GroupVersionResource, namespace string, objects, rate int) {
	if objects == 0 {
		return
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for step := 1; ; step++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		obj := plainObject(namespace, step%objects, step)
		if step%5 == 0 {
			if _, err := e.Delete(gvr, obj.GetNamespace(), obj.GetName()); err == nil {
				continue
			}
		}
		_, _ = e.Apply(gvr, obj) // the next one will do
	}
}

// plainObject has what every resource has.
func plainObject(namespace string, i, step int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetNamespace(namespace)
	u.SetName(fmt.Sprintf("object-%04d", i))
	u.SetLabels(map[string]string{"app": fmt.Sprintf("app-%02d", i%10)})
	u.SetAnnotations(map[string]string{"informerlab.example/step": fmt.Sprint(step)})
	return u
}
