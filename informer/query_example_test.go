package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

// Find objects by fields and labels, see how it is done, page through them, and
// read one's own write.
func ExampleLister() {
	server := apisim.New()
	for _, p := range []*corev1.Pod{newPod("default", "web-0", "Running"), newPod("default", "web-1", "Running"), newPod("default", "web-2", "Pending")} {
		p.Status.PodIP = "10.0.0." + p.Name[len(p.Name)-1:]
		if _, err := server.Create(apisim.Pods().GVR, p); err != nil {
			fmt.Println(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := informer.NewFactory(server.Config())
	pods, err := informer.For[*corev1.Pod](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := pods.AddFieldIndexes("status.podIP", "status.phase"); err != nil {
		fmt.Println(err)
	}
	f.Start(ctx)
	defer f.Shutdown()
	if err := f.WaitForCacheSync(ctx); err != nil {
		fmt.Println(err)
		return
	}

	byIP, _ := pods.GetIndexer().ByIndex("status.podIP", "10.0.0.1")
	fmt.Println("by IP:", byIP[0].Name)

	opts := metav1.ListOptions{FieldSelector: "status.phase=Running", LabelSelector: "app=web"}
	how, _ := pods.Explain(opts)
	fmt.Println(how)
	opts.Limit = 1
	for {
		page, err := pods.Lister().Page(opts)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("page:", page.Items[0].Name)
		if opts.Continue = page.Continue; opts.Continue == "" {
			break
		}
	}

	_, err = pods.Lister().Namespace("default").Get("web-9")
	fmt.Println(err, apierrors.IsNotFound(err))

	made, _ := server.Create(apisim.Pods().GVR, newPod("default", "web-9", "Pending"))
	rv := made.(*corev1.Pod).ResourceVersion
	own, err := pods.GetAtLeast(ctx, object.Key{Namespace: "default", Name: "web-9"}, rv)
	fmt.Println("own write:", own.Name, err)
	// Output:
	// by IP: web-1
	// index status.phase: 2 of 3 objects, then check app=web
	// page: web-0
	// page: web-1
	// pods "default/web-9" not found true
	// own write: web-9 <nil>
}
