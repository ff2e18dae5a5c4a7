// Command workqueue is the shape of every controller: handlers put keys into a
// queue, a worker takes them out and looks at the cache.
//
//	go run ./docs/examples/workqueue
package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"informer.example/docs/examples/internal/example"
	"informer.example/informer"
	"informer.example/object"
)

func main() { example.Main(run) }

// maxTries is how often a key is tried before it is left to its next change.
const maxTries = 3

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	factory := informer.NewFactory(cfg)
	defer factory.Shutdown()
	pods, err := informer.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}

	// The queue holds keys, not objects: a pod that changes five times before
	// the worker gets to it is one entry, and the worker reads its last state.
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[object.Key]())
	defer queue.ShutDown()
	add := func(what string, pod *corev1.Pod) {
		key := object.Key{Namespace: pod.Namespace, Name: pod.Name}
		fmt.Fprintf(out, "pod %s: %s\n", what, key)
		queue.Add(key)
	}
	_, err = pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod) { add("added", pod) },
		UpdateFunc: func(_, pod *corev1.Pod) { add("updated", pod) },
		DeleteFunc: func(pod *corev1.Pod, _ bool) { add("deleted", pod) },
	})
	if err != nil {
		return err
	}

	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	var worker sync.WaitGroup
	worker.Go(func() { work(queue, pods.Lister(), out) })
	<-ctx.Done()
	queue.ShutDown() // Get then returns, and the worker with it
	worker.Wait()
	return nil
}

// work takes keys until the queue is shut down. The queue never hands one key
// to two workers at once.
func work(queue workqueue.TypedRateLimitingInterface[object.Key], pods informer.Lister[*corev1.Pod], out io.Writer) {
	for {
		key, shutDown := queue.Get()
		if shutDown {
			return
		}
		err := reconcile(key, pods, out)
		switch {
		case err == nil:
			queue.Forget(key) // its next failure waits as little as the first
		case queue.NumRequeues(key) < maxTries-1:
			queue.AddRateLimited(key)
		default:
			fmt.Fprintf(out, "giving up on %s: %v\n", key, err)
			queue.Forget(key)
		}
		queue.Done(key)
	}
}
