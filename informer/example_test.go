package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/indexer"
	"informer.example/informer"
)

// Watch the pods of a simulated server, find one by its IP and some by their
// phase, and hear of a deletion.
func Example() {
	server := apisim.New()
	for _, p := range []*corev1.Pod{newPod("default", "web-0", "Running"), newPod("default", "web-1", "Pending")} {
		p.Status.PodIP = "10.0.0." + p.Name[len(p.Name)-1:]
		if _, err := server.Create(apisim.Pods().GVR, p); err != nil {
			fmt.Println(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	f := informer.NewFactory(server.Config()) // or a rest.Config of a real cluster
	pods, err := informer.For[*corev1.Pod](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pods.AddIndexers(indexer.Indexers[*corev1.Pod]{
		"byIP": indexer.SimpleIndex(func(p *corev1.Pod) string { return p.Status.PodIP }),
	})
	if err != nil {
		fmt.Println(err)
	}
	deleted := make(chan string)
	_, err = pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		DeleteFunc: func(p *corev1.Pod, finalStateKnown bool) { deleted <- p.Name },
	})
	if err != nil {
		fmt.Println(err)
	}
	f.Start(ctx)
	defer f.Shutdown()
	if err := f.WaitForCacheSync(ctx); err != nil {
		fmt.Println(err) // says why not
		return
	}

	byIP, _ := pods.GetIndexer().ByIndex("byIP", "10.0.0.1")
	running, _ := pods.Lister().List(metav1.ListOptions{FieldSelector: "status.phase=Running"})
	fmt.Println("by IP:", byIP[0].Name)
	fmt.Println("running:", running[0].Name)
	if _, err := server.Delete(apisim.Pods().GVR, "default", "web-0"); err != nil {
		fmt.Println(err)
	}
	fmt.Println("deleted:", <-deleted)
	// Output:
	// by IP: web-1
	// running: web-0
	// deleted: web-0
}
