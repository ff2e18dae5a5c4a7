package informer_test

import (
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
	"informer.example/informer"
)

// examplePods is an informer on a simulated server that holds some pods.
func examplePods(names ...string) (*apisim.Server, *informer.Factory, *informer.Informer[*corev1.Pod]) {
	server := apisim.New()
	for _, name := range names {
		if _, err := server.Create(apisim.Pods().GVR, newPod("default", name, "Running")); err != nil {
			panic(err)
		}
	}
	f := informer.NewFactory(server.Config(), informer.WithLogger(slog.New(slog.DiscardHandler)))
	pods, err := informer.For[*corev1.Pod](f)
	if err != nil {
		panic(err)
	}
	return server, f, pods
}

// What a handler is told of a deletion: the last known object, and whether that
// is its final state. There is no wrapper to unpack.
func ExampleHandlerFuncs() {
	server, f, pods := examplePods("web-0")
	deleted := make(chan bool)
	reg, err := pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(p *corev1.Pod) { fmt.Println("added", p.Name) },
		DeleteFunc: func(p *corev1.Pod, finalStateKnown bool) {
			fmt.Println("deleted", p.Name, "final state known:", finalStateKnown)
			close(deleted)
		},
	}, informer.WithName("printer"))
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Start(context.Background())
	defer f.Shutdown()
	if err := reg.WaitForSync(context.Background()); err != nil {
		fmt.Println(err) // removed or stopped before that: no waiter hangs
		return
	}
	if _, err := server.Delete(apisim.Pods().GVR, "default", "web-0"); err != nil {
		fmt.Println(err)
	}
	<-deleted
	// Output:
	// added web-0
	// deleted web-0 final state known: true
}

// A controller that looks at each object's present state only wants Latest:
// however long a call takes, the next one is about what is newest.
func ExampleWithDelivery() {
	_, f, pods := examplePods("web-0", "web-1")
	reg, err := pods.AddEventHandler(informer.HandlerFunc[*corev1.Pod](func(e informer.Event[*corev1.Pod]) {
		fmt.Println("reconcile", e.Key)
	}), informer.WithDelivery(informer.Latest))
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Start(context.Background())
	defer f.Shutdown()
	if err := reg.WaitForSync(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// reconcile default/web-0
	// reconcile default/web-1
}

// A panic that costs one call instead of the process.
func ExampleWithPanicPolicy() {
	_, f, pods := examplePods("bad", "good")
	reg, err := pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(p *corev1.Pod) {
		if p.Name == "bad" {
			panic("can't have that")
		}
		fmt.Println("added", p.Name)
	}}, informer.WithName("picky"), informer.WithPanicPolicy(informer.IsolatePanics))
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Start(context.Background())
	defer f.Shutdown()
	if err := reg.WaitForSync(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(reg.Status().LastPanic)
	// Output:
	// added good
	// handler picky panicked on default/bad: can't have that
}
