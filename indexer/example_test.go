package indexer_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

func pod(namespace, name, ip, node, rv string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid-of-pod", ResourceVersion: rv},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{PodIP: ip},
	}
}

func Example() {
	pods := indexer.New(indexer.Indexers[*corev1.Pod]{
		"byNode": indexer.SimpleIndex(func(p *corev1.Pod) string { return p.Spec.NodeName }),
		"byIP":   indexer.Must(indexer.FieldIndex[*corev1.Pod]("status.podIP")),
	})
	_ = pods.Add(pod("default", "web-0", "10.0.0.1", "node-a", "1"))
	_ = pods.Add(pod("default", "web-1", "10.0.0.2", "node-a", "2"))
	_ = pods.Add(pod("kube-system", "dns-0", "10.0.0.3", "node-b", "3"))

	p, found, _ := pods.GetByKey("default/web-1")
	fmt.Println(found, p.Status.PodIP)

	byIP, _ := pods.ByIndex("byIP", "10.0.0.3")
	fmt.Println(byIP[0].Name)

	onA, _ := pods.IndexKeys("byNode", "node-a")
	fmt.Println(onA)
	// Output:
	// true 10.0.0.2
	// dns-0
	// [default/web-0 default/web-1]
}

// A snapshot answers several questions from one state, while the store goes on.
func ExampleSnapshot() {
	pods := indexer.New[*corev1.Pod](nil)
	_ = pods.Replace([]*corev1.Pod{
		pod("a", "web-0", "", "", "1"), pod("a", "web-1", "", "", "2"), pod("a", "db-0", "", "", "3"), pod("b", "web-0", "", "", "4"),
	}, "10")

	before := pods.Snapshot()
	_ = pods.Delete(pod("a", "web-1", "", "", "5"))

	for key := range before.Prefix("a", "web-") {
		fmt.Println(key)
	}
	fmt.Println(before.Len(), pods.Len())
	// Output:
	// a/web-0
	// a/web-1
	// 4 3
}

// What happened between two moments is the difference of two snapshots.
func ExampleDiff() {
	pods := indexer.New[*corev1.Pod](nil)
	_ = pods.Add(pod("default", "web-0", "", "", "1"))
	_ = pods.Add(pod("default", "web-1", "", "", "2"))
	before := pods.Snapshot()

	_ = pods.Update(pod("default", "web-0", "10.0.0.1", "", "3"))
	_ = pods.Update(pod("default", "web-0", "10.0.0.9", "", "4")) // the version between is not seen
	_ = pods.Delete(pod("default", "web-1", "", "", "5"))
	_ = pods.Add(pod("default", "web-2", "", "", "6"))

	for c := range indexer.Diff(before, pods.Snapshot()) {
		fmt.Println(c.Type, c.Key())
	}
	// Output:
	// Updated default/web-0
	// Deleted default/web-1
	// Added default/web-2
}

// An informer's way to write: several events, one commit, and what came of it.
func ExampleIndexer_Commit() {
	pods := indexer.New[*corev1.Pod](nil)
	item := func(p *corev1.Pod) object.Item[*corev1.Pod] {
		it, _ := object.NewItem(p, nil)
		return it
	}
	var batch indexer.Batch[*corev1.Pod]
	batch.SetNewer(item(pod("default", "web-0", "", "", "7")))
	batch.SetNewer(item(pod("default", "web-0", "10.0.0.1", "", "9")))
	batch.SetNewer(item(pod("default", "web-0", "", "", "8"))) // too late
	result := pods.Commit(&batch, "9")

	for _, c := range result.Changes {
		fmt.Println(c.Type, c.Key(), c.New.ResourceVersion)
	}
	fmt.Println(result.Stale, "stale, commit", result.Sequence, "at", pods.ResourceVersion())
	// Output:
	// Added default/web-0 7
	// Updated default/web-0 9
	// 1 stale, commit 1 at 9
}

func ExampleCompileField() {
	image, err := indexer.CompileField[*corev1.Pod]("spec.containers.image")
	if err != nil {
		fmt.Println(err)
		return
	}
	values, _ := image.Values(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "web:1"}, {Image: "log:2"}}}})
	fmt.Println(values)

	_, err = indexer.CompileField[*corev1.Pod]("metadata.labels.app.kubernetes.io/name")
	fmt.Println(err)
	// Output:
	// [web:1 log:2]
	// field path "metadata.labels.app.kubernetes.io/name" of *v1.Pod, at "metadata.labels.app": is a single value and has nothing below it
}
