package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"

	"informer.example/apisim"
)

const (
	// noScheduler is the scheduler that the pods ask for. Nobody has that name,
	// so the pods stay pending: they take no node's resources, and a deletion
	// takes effect at once.
	noScheduler = "informerlab.example-none"
	// account is the pods' service account. A new namespace gets its default one
	// only after a while, and pods without one are refused.
	account = "informerlab"
	// writers is how many requests fill the namespace at the same time.
	writers = 16
)

// cluster is a real API server. Everything it makes is in one namespace of its
// own.
type cluster struct {
	client    kubernetes.Interface
	namespace string
	to        target
}

func loadKubeconfig(file, contextName string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: contextName}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", file, err)
	}
	return cfg, nil
}

func startCluster(ctx context.Context, kubeconfig, contextName string) (server, error) {
	cfg, err := loadKubeconfig(kubeconfig, contextName)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "informerlab-compare-",
		Labels:       map[string]string{"app.kubernetes.io/managed-by": "informerlab"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("make a namespace to work in: %w", err)
	}
	c := &cluster{client: client, namespace: namespace.Name}
	c.to = target{Kubeconfig: kubeconfig, Context: contextName, Namespace: c.namespace}
	serviceAccount := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}
	if _, err := client.CoreV1().ServiceAccounts(c.namespace).Create(ctx, serviceAccount, metav1.CreateOptions{}); err != nil {
		err = fmt.Errorf("make a service account in namespace %s: %w", c.namespace, err)
		return nil, errors.Join(err, c.close(ctx))
	}
	return c, nil
}

// pod is the cluster's object of that number.
func (c *cluster) pod(number int) *corev1.Pod {
	pod := apisim.RealisticPod(number)
	pod.ObjectMeta = metav1.ObjectMeta{
		Name:        "pod-" + strconv.Itoa(number),
		Namespace:   c.namespace,
		Labels:      pod.Labels,
		Annotations: pod.Annotations,
	}
	pod.Status = corev1.PodStatus{}
	no, expiration := false, int64(3600) // the least that a real server takes is 600
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ServiceAccountToken != nil {
				source.ServiceAccountToken.ExpirationSeconds = &expiration
			}
		}
	}
	pod.Spec = corev1.PodSpec{
		SchedulerName:                noScheduler,
		ServiceAccountName:           account,
		AutomountServiceAccountToken: &no,
		Containers:                   pod.Spec.Containers,
		Volumes:                      pod.Spec.Volumes,
		RestartPolicy:                pod.Spec.RestartPolicy,
	}
	return pod
}

func (c *cluster) fill(ctx context.Context, objects int) (target, error) {
	have, err := c.names(ctx)
	if err != nil {
		return target{}, err
	}
	var work []func(context.Context) error
	for i := range objects {
		pod := c.pod(i)
		if have[pod.Name] {
			delete(have, pod.Name)
			continue
		}
		work = append(work, func(ctx context.Context) error {
			_, err := c.client.CoreV1().Pods(c.namespace).Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
	}
	for name := range have {
		work = append(work, func(ctx context.Context) error {
			return c.client.CoreV1().Pods(c.namespace).Delete(ctx, name, metav1.DeleteOptions{})
		})
	}
	return c.to, inParallel(ctx, work)
}

// inParallel does all the work, or stops at the first error.
func inParallel(ctx context.Context, work []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan func(context.Context) error)
	var workers sync.WaitGroup
	for range writers {
		workers.Go(func() {
			for do := range next {
				if err := do(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, do := range work {
		if ctx.Err() != nil {
			break
		}
		next <- do
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

func (c *cluster) names(ctx context.Context) (map[string]bool, error) {
	versions, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(versions))
	for _, v := range versions {
		names[v.Key[len(c.namespace)+1:]] = true
	}
	return names, nil
}

func (c *cluster) churn(ctx context.Context, r churnRequest) (churned, error) {
	return r.run(ctx, c.write)
}

func (c *cluster) write(ctx context.Context, op operation) (Write, error) {
	pods := c.client.CoreV1().Pods(c.namespace)
	pod := c.pod(op.object)
	w := Write{Key: pod.Namespace + "/" + pod.Name, At: time.Now().UnixNano()}
	var err error
	switch op.verb {
	case create:
		w.State, err = stateOf(pods.Create(ctx, pod, metav1.CreateOptions{}))
	case update:
		patch, jsonErr := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{stepAnnotation: strconv.FormatInt(w.At, 10)}}})
		if jsonErr != nil {
			return w, jsonErr
		}
		w.State, err = stateOf(pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}))
	case remove:
		w.State, err = c.remove(ctx, pod.Name)
	}
	return w, err
}

// remove deletes a pod and says which it was: the answer to a deletion of a pod
// is the pod.
func (c *cluster) remove(ctx context.Context, name string) (State, error) {
	var pod corev1.Pod
	err := c.client.CoreV1().RESTClient().Delete().Namespace(c.namespace).Resource("pods").Name(name).Do(ctx).Into(&pod)
	if err != nil {
		return State{}, err
	}
	return State{UID: string(pod.UID), Deleted: true}, nil
}

func (c *cluster) state(ctx context.Context) ([]Version, error) {
	list := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtime.Object, error) {
		return c.client.CoreV1().Pods(c.namespace).List(ctx, opts)
	}))
	var versions []Version
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(obj runtime.Object) error {
		pod := obj.(*corev1.Pod)
		versions = append(versions, Version{Key: pod.Namespace + "/" + pod.Name, UID: string(pod.UID), ResourceVersion: pod.ResourceVersion})
		return nil
	})
	return versions, err
}

// close removes the namespace. It is asked for first, since the rest may be cut
// short; the pods are removed besides, for a cluster on which nobody empties
// namespaces.
func (c *cluster) close(ctx context.Context) error {
	limit := time.Minute
	if ctx.Err() != nil {
		limit = hurry
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := c.client.CoreV1().Namespaces().Delete(ctx, c.namespace, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return &CleanupError{Namespace: c.namespace, Err: err}
	}
	_ = c.client.CoreV1().Pods(c.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	return nil
}

// hurry is how long removing may take after Ctrl-C, which ends everything within
// a second.
const hurry = 400 * time.Millisecond
