package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/indexer"
)

// kind is a resource that can be watched, with the Go type to watch it as.
type kind struct {
	gvr        schema.GroupVersionResource
	namespaced bool
	typed      bool // has a Go type, and with it protobuf
	follow     func(context.Context, *watching, *rest.Config, kind) error
}

// builtins returns the resources that are known without asking a server.
func builtins() []kind {
	return []kind{
		{corev1.SchemeGroupVersion.WithResource("pods"), true, true, followPods},
		builtin[*corev1.ConfigMap](corev1.SchemeGroupVersion, "configmaps", true),
		builtin[*corev1.Secret](corev1.SchemeGroupVersion, "secrets", true),
		builtin[*corev1.Service](corev1.SchemeGroupVersion, "services", true),
		builtin[*corev1.ServiceAccount](corev1.SchemeGroupVersion, "serviceaccounts", true),
		builtin[*corev1.Event](corev1.SchemeGroupVersion, "events", true),
		builtin[*corev1.PersistentVolumeClaim](corev1.SchemeGroupVersion, "persistentvolumeclaims", true),
		builtin[*corev1.PersistentVolume](corev1.SchemeGroupVersion, "persistentvolumes", false),
		builtin[*corev1.ResourceQuota](corev1.SchemeGroupVersion, "resourcequotas", true),
		builtin[*corev1.LimitRange](corev1.SchemeGroupVersion, "limitranges", true),
		builtin[*corev1.Node](corev1.SchemeGroupVersion, "nodes", false),
		builtin[*corev1.Namespace](corev1.SchemeGroupVersion, "namespaces", false),
		builtin[*appsv1.Deployment](appsv1.SchemeGroupVersion, "deployments", true),
		builtin[*appsv1.ReplicaSet](appsv1.SchemeGroupVersion, "replicasets", true),
		builtin[*appsv1.StatefulSet](appsv1.SchemeGroupVersion, "statefulsets", true),
		builtin[*appsv1.DaemonSet](appsv1.SchemeGroupVersion, "daemonsets", true),
		builtin[*batchv1.Job](batchv1.SchemeGroupVersion, "jobs", true),
		builtin[*batchv1.CronJob](batchv1.SchemeGroupVersion, "cronjobs", true),
		builtin[*autoscalingv2.HorizontalPodAutoscaler](autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", true),
		builtin[*coordinationv1.Lease](coordinationv1.SchemeGroupVersion, "leases", true),
		builtin[*discoveryv1.EndpointSlice](discoveryv1.SchemeGroupVersion, "endpointslices", true),
		builtin[*networkingv1.Ingress](networkingv1.SchemeGroupVersion, "ingresses", true),
		builtin[*networkingv1.NetworkPolicy](networkingv1.SchemeGroupVersion, "networkpolicies", true),
		builtin[*policyv1.PodDisruptionBudget](policyv1.SchemeGroupVersion, "poddisruptionbudgets", true),
		builtin[*rbacv1.Role](rbacv1.SchemeGroupVersion, "roles", true),
		builtin[*rbacv1.RoleBinding](rbacv1.SchemeGroupVersion, "rolebindings", true),
		builtin[*rbacv1.ClusterRole](rbacv1.SchemeGroupVersion, "clusterroles", false),
		builtin[*rbacv1.ClusterRoleBinding](rbacv1.SchemeGroupVersion, "clusterrolebindings", false),
		builtin[*storagev1.StorageClass](storagev1.SchemeGroupVersion, "storageclasses", false),
	}
}

func builtin[T metav1.Object](gv schema.GroupVersion, resource string, namespaced bool) kind {
	return kind{gv.WithResource(resource), namespaced, true, follow[T]}
}

// custom is any other resource.
func custom(gvr schema.GroupVersionResource, namespaced bool) kind {
	return kind{gvr, namespaced, false, follow[*unstructured.Unstructured]}
}

func follow[T metav1.Object](ctx context.Context, w *watching, cfg *rest.Config, k kind) error {
	return watchResource[T](ctx, w, cfg, k, nil)
}

// byIP is the index that --by-ip asks.
const byIP = "byIP"

func followPods(ctx context.Context, w *watching, cfg *rest.Config, k kind) error {
	return watchResource(ctx, w, cfg, k, indexer.Indexers[*corev1.Pod]{byIP: podIPs})
}

func podIPs(pod *corev1.Pod) ([]string, error) {
	ips := make([]string, 0, len(pod.Status.PodIPs)+1)
	if pod.Status.PodIP != "" {
		ips = append(ips, pod.Status.PodIP)
	}
	for _, ip := range pod.Status.PodIPs {
		ips = append(ips, ip.IP)
	}
	return ips, nil
}

// resourceName is RESOURCE[.VERSION.GROUP] taken apart.
type resourceName struct {
	resource, version, group string // the last two may be empty: not said
}

var (
	versionPattern = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
	namePattern    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// parseResource reads "pods", "pods.v1", "deployments.apps",
// "deployments.v1.apps".
func parseResource(arg string) (resourceName, error) {
	parts := strings.Split(arg, ".")
	for _, part := range parts {
		if !namePattern.MatchString(part) {
			return resourceName{}, usagef("resource %q: want RESOURCE[.VERSION.GROUP] in lower case, such as pods or deployments.v1.apps", arg)
		}
	}
	name := resourceName{resource: parts[0]}
	parts = parts[1:]
	if len(parts) > 0 && versionPattern.MatchString(parts[0]) {
		name.version, parts = parts[0], parts[1:]
	}
	name.group = strings.Join(parts, ".")
	return name, nil
}

func (n resourceName) matches(gvr schema.GroupVersionResource) bool {
	switch {
	case n.resource != gvr.Resource,
		n.version != "" && n.version != gvr.Version,
		n.group != "" && n.group != gvr.Group,
		n.version != "" && n.group == "" && gvr.Group != "": // "deployments.v1" is in the core group, so it is nothing
		return false
	}
	return true
}

// known finds a built-in resource.
func (n resourceName) known() (kind, bool) {
	all := builtins()
	if i := slices.IndexFunc(all, func(k kind) bool { return n.matches(k.gvr) }); i >= 0 {
		return all[i], true
	}
	return kind{}, false
}

// complete reports whether the name says everything, so that no server need be
// asked what it means.
func (n resourceName) complete() bool { return n.version != "" }

func (n resourceName) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: n.group, Version: n.version, Resource: n.resource}
}
