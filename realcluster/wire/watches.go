package wire

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// marker is in the bookmark that ends the initial events, in either encoding.
const marker = "initial-events-end"

// watches records watches that see the objects change.
func (s *session) watches(ctx context.Context) error {
	pods, err := s.listMeta("pods-list-json")
	if err != nil {
		return err
	}
	live := fmt.Sprintf("?watch=true&allowWatchBookmarks=true&timeoutSeconds=%d", watchSeconds)
	from := live + "&resourceVersion=" + pods.ResourceVersion
	initial := live + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	const story = "create, status, leave the selector tier=front, graceful delete, delete, create again, delete; a bookmark"

	calls := both("pods-watch", story, podsPath+from)
	watchLists := both("pods-watchlist", "initial events in key order, the bookmark that ends them, then: "+story, podsInA+initial)
	for _, c := range both("pods-watchlist-gzip", "the same, compressed: one gzip member for each flush", podsInA+initial) {
		c.gzip = true
		watchLists = append(watchLists, c)
	}
	watchLists = append(watchLists, both("pods-watchlist-empty", "no initial events: the end bookmark comes at once", emptyPath+initial)...)
	watchLists = append(watchLists,
		call{name: "pods-watch-implicit", about: "without resourceVersion, and with bookmarks, a watch sends initial events and their end unasked", path: podsInA + live, accept: mediaJSON},
		call{name: "widgets-watchlist-json", about: "initial events of custom resources, then: create, update, delete; a bookmark", path: widgetsPath + initial, accept: mediaJSON},
	)
	for i := range watchLists {
		watchLists[i].until = marker
	}
	calls = append(calls, watchLists...)
	calls = append(calls,
		call{name: "pods-watch-selector", about: "tier=front: an object that stops matching is DELETED, with its old body and the resourceVersion of the change", path: podsPath + from + "&labelSelector=tier%3Dfront", accept: mediaJSON},
		call{name: "pods-metadata-watch-json", about: "metadata alone", path: podsPath + from, accept: mediaJSON + metaOne},
		call{name: "pods-metadata-watch-protobuf", about: "metadata alone", path: podsPath + from, accept: mediaProtobuf + metaOne},
		call{name: "widgets-watch-json", about: "create, update, delete; a bookmark", path: widgetsPath + from, accept: mediaJSON},
		call{name: "widgets-metadata-watch-protobuf", about: "metadata of custom resources", path: widgetsPath + from, accept: mediaProtobuf + metaOne},
		call{name: "pods-watch-quiet", about: "a watch without events and bookmarks: an empty body", path: emptyPath + "?watch=true&timeoutSeconds=1&resourceVersion=" + pods.ResourceVersion, accept: mediaJSON},
	)
	return s.during(ctx, s.admin, calls, func() error {
		if err := livePod(ctx, s.kube); err != nil {
			return err
		}
		return liveWidget(ctx, s.dynamic)
	})
}

// livePod takes one pod of namespace a through its life.
func livePod(ctx context.Context, client kubernetes.Interface) error {
	const i = 100 // tier=front
	pods := client.CoreV1().Pods("a")
	fail := func(err error) error { return fmt.Errorf("change pod %s: %w", podName(i), err) }
	pod, err := pods.Create(ctx, newPod(i), metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if err != nil {
		return fail(err)
	}
	setRunning(pod, i)
	if pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"}); err != nil {
		return fail(err)
	}
	pod.Labels["tier"] = "back"
	if pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{FieldManager: "recorder"}); err != nil {
		return fail(err)
	}
	// A write that changes nothing must show as no event and no resourceVersion.
	same, err := pods.Update(ctx, pod, metav1.UpdateOptions{FieldManager: "recorder"})
	if err != nil {
		return fail(err)
	}
	if same.ResourceVersion != pod.ResourceVersion {
		return fail(fmt.Errorf("an update that changes nothing moved resourceVersion %s to %s", pod.ResourceVersion, same.ResourceVersion))
	}
	if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		return fail(err)
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if err := pods.Delete(ctx, pod.Name, now); err != nil {
		return fail(err)
	}
	if _, err := pods.Create(ctx, newPod(i), metav1.CreateOptions{FieldManager: "kube-controller-manager"}); err != nil {
		return fail(err)
	}
	if err := pods.Delete(ctx, pod.Name, now); err != nil {
		return fail(err)
	}
	return nil
}

// liveWidget takes one widget through its life.
func liveWidget(ctx context.Context, client dynamic.Interface) error {
	widgets := client.Resource(WidgetResource()).Namespace("shop")
	obj, err := createWidget(ctx, client, "lever", 10)
	if err != nil {
		return err
	}
	obj.SetLabels(map[string]string{"size": "huge"})
	if _, err := widgets.Update(ctx, obj, metav1.UpdateOptions{FieldManager: "recorder"}); err != nil {
		return fmt.Errorf("update widget lever: %w", err)
	}
	if err := widgets.Delete(ctx, "lever", metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete widget lever: %w", err)
	}
	return nil
}
