package wire

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// namespaces are where the pods live. The server orders by "namespace/name" as
// bytes, so "a-b" comes before "a": '-' is less than '/'.
func namespaces() []string { return []string{"a", "a-b", "shop", "void"} }

// emptyNamespace gets no pods.
const emptyNamespace = "void"

// epoch is when the recorded pods say they began.
func epoch() metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 15, 8, 30, 0, 0, time.UTC))
}

// makePods creates the namespaces and 48 pods: 6 in each of a and a-b, 36 in shop.
func makePods(ctx context.Context, client kubernetes.Interface) error {
	for _, ns := range namespaces() {
		obj := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, obj, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("make namespace %s: %w", ns, err)
		}
	}
	for i := range 48 {
		ns := "shop"
		switch i % 8 {
		case 3:
			ns = "a"
		case 6:
			ns = "a-b"
		}
		if err := makePod(ctx, client, ns, i); err != nil {
			return err
		}
	}
	return nil
}

// makePod writes a pod as the parts of a cluster would: a controller creates it
// and the kubelet writes its status. Each leaves managed fields.
func makePod(ctx context.Context, client kubernetes.Interface, ns string, i int) error {
	pods := client.CoreV1().Pods(ns)
	fail := func(err error) error { return fmt.Errorf("make pod %d in namespace %s: %w", i, ns, err) }
	pod, err := pods.Create(ctx, newPod(i), metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if err != nil {
		return fail(err)
	}
	if i%16 == 15 { // left Pending
		return nil
	}
	setRunning(pod, i)
	if _, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"}); err != nil {
		return fail(err)
	}
	return nil
}

// podName spreads the names over the alphabet, so that order in the list is not
// the order of creation.
func podName(i int) string {
	return fmt.Sprintf("%s-%s-%05x", appOf(i), "6f7d9c5b84", (i*40503+17)&0xfffff)
}

func appOf(i int) string { return []string{"web", "cart", "search", "mail"}[i%4] }

func newPod(i int) *corev1.Pod {
	app := appOf(i)
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:         podName(i),
			GenerateName: app + "-6f7d9c5b84-",
			Labels: map[string]string{
				"app":               app,
				"pod-template-hash": "6f7d9c5b84",
				"tier":              []string{"front", "back"}[i%2],
			},
			Annotations: map[string]string{
				"example.com/note": "line one\nline two\t<&> \"quoted\" größer 東京 🚀",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-6f7d9c5b84",
				UID:        "3f0c7a52-8f3e-4c55-9d0b-5a1f6f1d2c3b",
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:           fmt.Sprintf("node-%02d", i%7),
			ServiceAccountName: app,
			Containers:         []corev1.Container{mainContainer(app, i), sidecar()},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: app + "-config"},
				}}},
				{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
}

func mainContainer(app string, i int) corev1.Container {
	return corev1.Container{
		Name:  app,
		Image: "registry.example.com/storefront/" + app + ":1.14.2",
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
		},
		Env: []corev1.EnvVar{
			{Name: "LOG_LEVEL", Value: "info"},
			{Name: "REVISION", Value: fmt.Sprintf("%016x", uint64(i+1)*0x9e3779b97f4a7c15)},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *quantity("250m"), corev1.ResourceMemory: *quantity("256Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: *quantity("512Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/app", ReadOnly: true},
			{Name: "cache", MountPath: "/var/cache/app"},
		},
	}
}

func sidecar() corev1.Container {
	return corev1.Container{
		Name:  "metrics",
		Image: "registry.example.com/tools/exporter:0.9.1",
		Env:   []corev1.EnvVar{{Name: "TARGET", Value: "http://127.0.0.1:8080/stats"}},
	}
}

func quantity(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}

// setRunning writes what a kubelet would. Every eighth pod has ended instead.
func setRunning(pod *corev1.Pod, i int) {
	ip := fmt.Sprintf("10.244.%d.%d", i%7, i+10)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.HostIP = fmt.Sprintf("192.0.2.%d", i%7+1)
	pod.Status.HostIPs = []corev1.HostIP{{IP: pod.Status.HostIP}}
	pod.Status.PodIP = ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	pod.Status.StartTime = new(epoch())
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: t, Status: corev1.ConditionTrue, LastTransitionTime: epoch(),
		})
	}
	for j, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true),
			ImageID:     fmt.Sprintf("%s@sha256:%064x", c.Image, uint64(j+1)*0xc2b2ae3d27d4eb4f),
			ContainerID: fmt.Sprintf("containerd://%064x", uint64(i*2+j+1)*0x165667b19e3779f9),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: epoch()}},
		})
	}
	if i%8 == 7 {
		end(pod)
	}
}

func end(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodSucceeded
	for j := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[j]
		s.Ready, s.Started = false, new(false)
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: epoch(), FinishedAt: metav1.NewTime(epoch().Add(time.Hour)), ContainerID: s.ContainerID,
		}}
	}
	for j := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[j]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason = corev1.ConditionFalse, "PodCompleted"
		}
	}
}
