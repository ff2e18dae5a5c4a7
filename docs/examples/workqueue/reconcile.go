package main

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/informer"
	"informer.example/object"
)

// reconcile makes the world fit one pod. It asks how the pod is now: which
// event put the key into the queue doesn't matter.
func reconcile(key object.Key, pods informer.Lister[*corev1.Pod], out io.Writer) error {
	pod, err := pods.Get(key)
	if apierrors.IsNotFound(err) {
		fmt.Fprintf(out, "reconciled %s: it is gone\n", key)
		return nil
	}
	if err != nil {
		return err
	}
	if pod.Status.Phase == corev1.PodPending {
		return fmt.Errorf("it is still %s", pod.Status.Phase)
	}
	fmt.Fprintf(out, "reconciled %s: it is %s\n", key, pod.Status.Phase)
	return nil
}
