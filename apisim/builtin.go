package apisim

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BuiltIns returns the resources that a server has by default.
func BuiltIns() []Resource {
	return []Resource{
		Pods(), ConfigMaps(), Secrets(), Services(), Nodes(), Namespaces(), Events(),
		Deployments(), ReplicaSets(), Leases(),
	}
}

func core(resource string) schema.GroupVersionResource {
	return corev1.SchemeGroupVersion.WithResource(resource)
}

// Pods is v1 pods, with the field selectors of the real server.
func Pods() Resource {
	return Resource{
		GVR: core("pods"), Kind: "Pod", Namespaced: true, ShortNames: []string{"po"},
		Prototype: &corev1.Pod{}, StatusSubresource: true, Generation: true,
		Fields: podFields,
		initialStatus: func(o runtime.Object) {
			o.(*corev1.Pod).Status = corev1.PodStatus{Phase: corev1.PodPending}
		},
	}
}

// podFields follows the real server, oddities included: spec.host is an old
// name of spec.nodeName, and status.podIPs is accepted but never has a value.
func podFields(o runtime.Object) map[string]string {
	p := o.(*corev1.Pod)
	return map[string]string{
		"metadata.name":            p.Name,
		"metadata.namespace":       p.Namespace,
		"spec.nodeName":            p.Spec.NodeName,
		"spec.host":                p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             p.Status.PodIP,
		"status.podIPs":            "",
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}

// ConfigMaps is v1 configmaps.
func ConfigMaps() Resource {
	return Resource{GVR: core("configmaps"), Kind: "ConfigMap", Namespaced: true, ShortNames: []string{"cm"}, Prototype: &corev1.ConfigMap{}}
}

// Secrets is v1 secrets.
func Secrets() Resource {
	return Resource{
		GVR: core("secrets"), Kind: "Secret", Namespaced: true, Prototype: &corev1.Secret{},
		Fields: func(o runtime.Object) map[string]string {
			s := o.(*corev1.Secret)
			return map[string]string{"metadata.name": s.Name, "metadata.namespace": s.Namespace, "type": string(s.Type)}
		},
	}
}

// Services is v1 services.
func Services() Resource {
	return Resource{
		GVR: core("services"), Kind: "Service", Namespaced: true, ShortNames: []string{"svc"},
		Prototype: &corev1.Service{}, StatusSubresource: true,
		Fields: func(o runtime.Object) map[string]string {
			s := o.(*corev1.Service)
			return map[string]string{
				"metadata.name": s.Name, "metadata.namespace": s.Namespace,
				"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type),
			}
		},
	}
}

// Nodes is v1 nodes.
func Nodes() Resource {
	return Resource{
		GVR: core("nodes"), Kind: "Node", ShortNames: []string{"no"}, Prototype: &corev1.Node{}, StatusSubresource: true,
		Fields: func(o runtime.Object) map[string]string {
			n := o.(*corev1.Node)
			return map[string]string{"metadata.name": n.Name, "spec.unschedulable": strconv.FormatBool(n.Spec.Unschedulable)}
		},
	}
}

// Namespaces is v1 namespaces. The other resources do not need them to exist.
func Namespaces() Resource {
	return Resource{
		GVR: core("namespaces"), Kind: "Namespace", ShortNames: []string{"ns"}, Prototype: &corev1.Namespace{}, StatusSubresource: true,
		Fields: func(o runtime.Object) map[string]string {
			n := o.(*corev1.Namespace)
			return map[string]string{"metadata.name": n.Name, "status.phase": string(n.Status.Phase)}
		},
		initialStatus: func(o runtime.Object) {
			o.(*corev1.Namespace).Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		},
	}
}

// Events is v1 events, which the real server does not cache.
func Events() Resource {
	return Resource{
		GVR: core("events"), Kind: "Event", Namespaced: true, ShortNames: []string{"ev"}, Prototype: &corev1.Event{}, Uncached: true,
		Fields: func(o runtime.Object) map[string]string {
			e := o.(*corev1.Event)
			source := e.Source.Component
			if source == "" {
				source = e.ReportingController
			}
			return map[string]string{
				"metadata.name": e.Name, "metadata.namespace": e.Namespace,
				"involvedObject.kind":            e.InvolvedObject.Kind,
				"involvedObject.namespace":       e.InvolvedObject.Namespace,
				"involvedObject.name":            e.InvolvedObject.Name,
				"involvedObject.uid":             string(e.InvolvedObject.UID),
				"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
				"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
				"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
				"reason":                         e.Reason,
				"reportingComponent":             e.ReportingController,
				"source":                         source,
				"type":                           e.Type,
			}
		},
	}
}

// Deployments is apps/v1 deployments.
func Deployments() Resource {
	return Resource{
		GVR: appsv1.SchemeGroupVersion.WithResource("deployments"), Kind: "Deployment", Namespaced: true, ShortNames: []string{"deploy"},
		Prototype: &appsv1.Deployment{}, StatusSubresource: true, Generation: true,
	}
}

// ReplicaSets is apps/v1 replicasets.
func ReplicaSets() Resource {
	return Resource{
		GVR: appsv1.SchemeGroupVersion.WithResource("replicasets"), Kind: "ReplicaSet", Namespaced: true, ShortNames: []string{"rs"},
		Prototype: &appsv1.ReplicaSet{}, StatusSubresource: true, Generation: true,
	}
}

// Leases is coordination.k8s.io/v1 leases.
func Leases() Resource {
	return Resource{
		GVR: coordinationv1.SchemeGroupVersion.WithResource("leases"), Kind: "Lease", Namespaced: true, Prototype: &coordinationv1.Lease{},
	}
}

func metadataFields(namespaced bool) func(runtime.Object) map[string]string {
	return func(o runtime.Object) map[string]string {
		m := o.(metav1.Object)
		if !namespaced {
			return map[string]string{"metadata.name": m.GetName()}
		}
		return map[string]string{"metadata.name": m.GetName(), "metadata.namespace": m.GetNamespace()}
	}
}
