package apisim

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Shape of the realistic pods: how many different values each field takes.
const (
	podNamespaces = 20
	podNodes      = 200
	podApps       = 50
)

// RealisticPod returns the i-th pod of an endless fixed series. It has the
// weight of a pod from a live cluster: two containers, probes, volumes,
// conditions, an owner and managedFields, about 5 KB of JSON and 3 KB of
// protobuf. Names and IPs are unique; namespaces, nodes, apps and phases recur.
// The server sets uid, creationTimestamp and resourceVersion.
func RealisticPod(i int) *corev1.Pod {
	app := fmt.Sprintf("app-%02d", i%podApps)
	hash := fmt.Sprintf("%08x", uint32(i%podApps+1)*2654435761)
	node := fmt.Sprintf("node-%03d", i*7%podNodes)
	name := fmt.Sprintf("%s-%s-%05d", app, hash, i)
	started := metav1.NewTime(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second))
	yes := true

	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:         name,
			GenerateName: app + "-" + hash + "-",
			Namespace:    fmt.Sprintf("team-%02d", i%podNamespaces),
			Labels: map[string]string{
				"app":                         app,
				"app.kubernetes.io/component": []string{"api", "worker", "cache"}[i%3],
				"pod-template-hash":           hash,
				"tier":                        []string{"frontend", "backend"}[i%2],
			},
			Annotations: map[string]string{
				"checksum/config":      fmt.Sprintf("%064x", i%podApps*7919),
				"prometheus.io/port":   "9090",
				"prometheus.io/scrape": "true",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-" + hash,
				UID:        types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i%podApps)),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: podManagedFields(started),
		},
		Spec:   podSpec(app, node),
		Status: podStatus(i, app, started),
	}
}

// podPhase: nine of ten run.
func podPhase(i int) corev1.PodPhase {
	switch i % 20 {
	case 7:
		return corev1.PodPending
	case 13:
		return corev1.PodSucceeded
	}
	return corev1.PodRunning
}

func podIP(i int) string {
	return fmt.Sprintf("10.%d.%d.%d", 64+i>>16&0x3f, i>>8&0xff, i&0xff)
}

func podSpec(app, node string) corev1.PodSpec {
	grace, priority, tolerate, expires := int64(30), int32(0), int64(300), int64(3607)
	no := false
	return corev1.PodSpec{
		NodeName:                      node,
		ServiceAccountName:            app,
		RestartPolicy:                 corev1.RestartPolicyAlways,
		DNSPolicy:                     corev1.DNSClusterFirst,
		SchedulerName:                 corev1.DefaultSchedulerName,
		TerminationGracePeriodSeconds: &grace,
		Priority:                      &priority,
		EnableServiceLinks:            &no,
		SecurityContext:               &corev1.PodSecurityContext{},
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerate},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerate},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app + "-config"}}}},
			{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expires, Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
			}}}},
		},
		Containers: []corev1.Container{
			{
				Name: "main", Image: "registry.example/" + app + ":v1.4.2", ImagePullPolicy: corev1.PullIfNotPresent,
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}, {Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP}},
				Env: []corev1.EnvVar{
					{Name: "APP_NAME", Value: app},
					{Name: "LOG_LEVEL", Value: "info"},
					{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
					{Name: "DB_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: app + "-db"}, Key: "password"}}},
				},
				Resources:      podResources("250m", "512Mi"),
				LivenessProbe:  httpProbe("/healthz", 10),
				ReadinessProbe: httpProbe("/readyz", 5),
				VolumeMounts: []corev1.VolumeMount{
					{Name: "config", MountPath: "/etc/app", ReadOnly: true},
					{Name: "cache", MountPath: "/var/cache/app"},
					{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
				},
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			},
			{
				Name: "proxy", Image: "registry.example/mesh/proxy:1.22.0", ImagePullPolicy: corev1.PullIfNotPresent,
				Args:      []string{"--config", "/etc/proxy/config.yaml", "--concurrency", "2"},
				Ports:     []corev1.ContainerPort{{Name: "proxy", ContainerPort: 15001, Protocol: corev1.ProtocolTCP}},
				Resources: podResources("100m", "128Mi"),
				VolumeMounts: []corev1.VolumeMount{
					{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
				},
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			},
		},
	}
}

func podResources(cpu, memory string) corev1.ResourceRequirements {
	r := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	return corev1.ResourceRequirements{Requests: r, Limits: r.DeepCopy()}
}

func httpProbe(path string, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
		PeriodSeconds: period, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
	}
}

func podStatus(i int, app string, started metav1.Time) corev1.PodStatus {
	phase := podPhase(i)
	ready := corev1.ConditionTrue
	if phase != corev1.PodRunning {
		ready = corev1.ConditionFalse
	}
	condition := func(t corev1.PodConditionType, s corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: t, Status: s, LastTransitionTime: started}
	}
	container := func(name, image string) corev1.ContainerStatus {
		up := phase == corev1.PodRunning
		s := corev1.ContainerStatus{
			Name: name, Image: image, Ready: up, Started: &up,
			ImageID:     image + "@sha256:" + fmt.Sprintf("%064x", i%podApps+1),
			ContainerID: "containerd://" + fmt.Sprintf("%064x", i+1),
		}
		if up {
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: started}
		} else {
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		}
		return s
	}
	host := "192.168." + strconv.Itoa(i*7%podNodes/100) + "." + strconv.Itoa(i*7%podNodes%100+1)
	return corev1.PodStatus{
		Phase: phase, PodIP: podIP(i), PodIPs: []corev1.PodIP{{IP: podIP(i)}},
		HostIP: host, HostIPs: []corev1.HostIP{{IP: host}},
		StartTime: &started, QOSClass: corev1.PodQOSGuaranteed,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue),
			condition(corev1.PodInitialized, corev1.ConditionTrue),
			condition(corev1.PodReady, ready),
			condition(corev1.ContainersReady, ready),
			condition(corev1.PodScheduled, corev1.ConditionTrue),
		},
		ContainerStatuses: []corev1.ContainerStatus{
			container("main", "registry.example/"+app+":v1.4.2"),
			container("proxy", "registry.example/mesh/proxy:1.22.0"),
		},
	}
}

// podManagedFields is shortened from what a controller manager and a kubelet
// leave behind.
func podManagedFields(at metav1.Time) []metav1.ManagedFieldsEntry {
	const (
		controller = `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{},"f:name":{},"f:ports":{},"f:resources":{},"f:volumeMounts":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:serviceAccountName":{},"f:volumes":{}}}`
		kubelet    = `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}}`
	)
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
		}
	}
	return []metav1.ManagedFieldsEntry{
		entry("kube-controller-manager", "", controller),
		entry("kubelet", "status", kubelet),
	}
}
