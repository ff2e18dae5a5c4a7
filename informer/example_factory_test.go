package informer_test

import (
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
)

// Two parts of a program use the same pods. Each gives back what it asked for,
// and doesn't have to know of the other.
func ExampleInformer_Release() {
	server := apisim.New()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := informer.NewFactory(server.Config())
	defer f.Shutdown()
	f.Start(ctx)

	web, err := informer.For[*corev1.Pod](f, informer.WithLabelSelector("app=web"))
	if err != nil {
		fmt.Println(err)
		return
	}
	same, err := informer.For[*corev1.Pod](f, informer.WithLabelSelector("app=web"))
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := informer.For[*corev1.Pod](f) // other objects, so another informer
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("informers:", len(f.Informers()))
	if err := all.WaitForSync(ctx); err != nil { // it runs: Start was called before
		fmt.Println(err)
	}

	if err := web.Release(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("ended after one release:", same.Err() != nil)
	if err := same.Release(); err != nil {
		fmt.Println(err)
	}
	<-same.Done()
	fmt.Println("ended after both:", same.Err() != nil)
	fmt.Println("informers:", len(f.Informers()))
	// Output:
	// informers: 2
	// ended after one release: false
	// ended after both: true
	// informers: 1
}

// One transform for every type saves the memory of what nobody reads. It is
// the factory's, so all requests agree in it. One that asks for something else
// is refused, and doesn't get objects that lack something.
func ExampleWithTransform() {
	server := apisim.New()
	if _, err := server.Create(apisim.Pods().GVR, newPod("default", "web-0", "Running")); err != nil {
		fmt.Println(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	lean := informer.NewTransform("lean", func(obj metav1.Object) (metav1.Object, error) {
		obj.SetManagedFields(nil)
		obj.SetLabels(nil)
		return obj, nil
	})
	f := informer.NewFactory(server.Config(), informer.WithTransform(lean), informer.WithLogger(slog.New(slog.DiscardHandler)))
	defer f.Shutdown()
	pods, err := informer.For[*corev1.Pod](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		fmt.Println(err)
		return
	}
	pod, _, _ := pods.GetIndexer().GetByKey("default/web-0")
	fmt.Println("labels:", len(pod.Labels))

	whole := informer.WithTransform[*corev1.Pod](nil)
	_, err = informer.For[*corev1.Pod](f, whole)
	fmt.Println(err)
	// Output:
	// labels: 0
	// pods: the factory's informer has transform "lean", and no transform was asked for: ask for the same, or use a factory of its own
}
