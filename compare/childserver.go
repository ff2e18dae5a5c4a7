package compare

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/compare/internal/child"
)

// serverChild is the simulated server in its process. It writes to its own
// store directly: a write costs no request.
type serverChild struct {
	once   sync.Once
	server *apisim.Server
}

func (c *serverChild) register(m *child.Mux) {
	child.Handle(m, methodFill, c.fill)
	child.Handle(m, methodChurn, c.churn)
	child.Handle(m, methodState, c.state)
}

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

func (c *serverChild) fill(ctx context.Context, objects int) (target, error) {
	var url string
	err := fmt.Errorf("filled before")
	c.once.Do(func() {
		c.server = apisim.New()
		if err = c.server.Fill(objects); err != nil {
			return
		}
		// It ends with the process.
		url, _, err = c.server.Serve(context.WithoutCancel(ctx), "127.0.0.1:0")
	})
	return target{URL: url}, err
}

func (c *serverChild) churn(ctx context.Context, r churnRequest) (churned, error) {
	return r.run(ctx, func(_ context.Context, op operation) (Write, error) { return c.write(op) })
}

func (c *serverChild) write(op operation) (Write, error) {
	pod := apisim.RealisticPod(op.object)
	w := Write{Key: pod.Namespace + "/" + pod.Name}
	if op.verb == update {
		stored, err := c.server.Get(podsResource, pod.Namespace, pod.Name)
		if err != nil {
			return w, err
		}
		pod = stored.(*corev1.Pod)
		touch(pod, op.step)
	}
	w.At = time.Now().UnixNano()
	var err error
	switch op.verb {
	case create:
		w.State, err = stateOf(c.server.Create(podsResource, pod))
	case update:
		w.State, err = stateOf(c.server.Update(podsResource, pod))
	case remove:
		w.State, err = stateOf(c.server.Delete(podsResource, pod.Namespace, pod.Name))
		w.State = State{UID: w.UID, Deleted: true}
	}
	return w, err
}

func stateOf(obj any, err error) (State, error) {
	if err != nil {
		return State{}, err
	}
	m := obj.(metav1.Object)
	return State{UID: string(m.GetUID()), ResourceVersion: m.GetResourceVersion()}, nil
}

// stepAnnotation is what an update changes.
const stepAnnotation = "informer.example/step"

func touch(pod *corev1.Pod, step int) {
	if pod.Annotations == nil {
		pod.Annotations = make(map[string]string)
	}
	pod.Annotations[stepAnnotation] = fmt.Sprint(step)
}

func (c *serverChild) state(context.Context, none) ([]Version, error) {
	objects, _, err := c.server.List(podsResource, "")
	if err != nil {
		return nil, err
	}
	pods := make([]*corev1.Pod, len(objects))
	for i, obj := range objects {
		pods[i] = obj.(*corev1.Pod)
	}
	return podVersions(pods), nil
}
