package apisim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func (r *Resource) isPod() bool {
	_, ok := r.Prototype.(*corev1.Pod)
	return ok
}

func podColumns(name, age metav1.TableColumnDefinition) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		name,
		{Name: "Ready", Type: "string", Description: "Ready containers, of all."},
		{Name: "Status", Type: "string", Description: "The phase, or the reason why a container is not running."},
		{Name: "Restarts", Type: "string", Description: "How often containers were restarted, and when last."},
		age,
		{Name: "IP", Type: "string", Priority: 1, Description: "The pod's address."},
		{Name: "Node", Type: "string", Priority: 1, Description: "The node that the pod is bound to."},
		{Name: "Nominated Node", Type: "string", Priority: 1, Description: "The node that the scheduler makes room on."},
		{Name: "Readiness Gates", Type: "string", Priority: 1, Description: "Met readiness gates, of all."},
	}
}

// podRow shows a pod as the real server does, but for what init containers that
// restart add to it.
func podRow(obj runtime.Object) metav1.TableRow {
	p := obj.(*corev1.Pod)
	var row metav1.TableRow
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		row.Conditions = []metav1.TableRowCondition{{
			Type: metav1.RowCompleted, Status: metav1.ConditionTrue,
			Reason: string(p.Status.Phase), Message: "The pod has " + map[corev1.PodPhase]string{
				corev1.PodSucceeded: "completed successfully.", corev1.PodFailed: "failed.",
			}[p.Status.Phase],
		}}
	}
	status, ready := podStatusCell(p)
	node, nominated := orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName)
	ip := p.Status.PodIP
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	row.Cells = []any{
		p.Name, fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers)), status, podRestarts(p),
		age(p.CreationTimestamp), orNone(ip), node, nominated, readinessGates(p),
	}
	return row
}

// podStatusCell is the reason that matters most, and the number of ready
// containers.
func podStatusCell(p *corev1.Pod) (status string, ready int) {
	status = string(p.Status.Phase)
	if p.Status.Reason != "" {
		status = p.Status.Reason
	}
	for i, c := range p.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode == 0 {
			continue
		}
		status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		if t := c.State.Terminated; t != nil {
			status = "Init:" + terminated(t)
		} else if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			status = "Init:" + w.Reason
		}
		return terminating(p, status), 0
	}
	running := false
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := p.Status.ContainerStatuses[i]
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			status = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			status = terminated(c.State.Terminated)
		case c.Ready && c.State.Running != nil:
			running = true
			ready++
		}
	}
	if status == "Completed" && running {
		status = "NotReady"
		if conditionTrue(p, corev1.PodReady) {
			status = "Running"
		}
	}
	return terminating(p, status), ready
}

func terminated(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

func terminating(p *corev1.Pod, status string) string {
	switch {
	case p.DeletionTimestamp == nil:
		return status
	case p.Status.Reason == "NodeLost":
		return "Unknown"
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return status
	}
	return "Terminating"
}

func podRestarts(p *corev1.Pod) string {
	n := int32(0)
	var last metav1.Time
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
		if t := c.LastTerminationState.Terminated; t != nil && last.Before(&t.FinishedAt) {
			last = t.FinishedAt
		}
	}
	if n == 0 || last.IsZero() {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%s ago)", n, age(last))
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	met := 0
	for _, g := range p.Spec.ReadinessGates {
		if conditionTrue(p, g.ConditionType) {
			met++
		}
	}
	return fmt.Sprintf("%d/%d", met, len(p.Spec.ReadinessGates))
}

func conditionTrue(p *corev1.Pod, t corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}
