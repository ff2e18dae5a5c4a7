package apisim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChurnOptions says how Churn changes pods.
type ChurnOptions struct {
	// Rate is writes a second; it must be above 0. Writes are evenly spaced; when the
	// machine is late, they are made up for.
	Rate float64
	// Writes ends the churn after so many writes; 0 means when the context ends.
	Writes int
	// Seed makes two runs pick the same writes on the same state.
	Seed uint64
	// Create, Update and Delete are the shares of the kinds of writes. All zero
	// means 1, 8, 1, which keeps the number of pods about the same.
	Create, Update, Delete int
	// Next is the number of the first pod to create (see RealisticPod); the pods
	// below it are those that Fill has made.
	Next int
	// Stamp, if set, is an annotation that carries the time of the write, in
	// nanoseconds since 1970, on created and updated pods.
	Stamp string
	// OnWrite, if set, is called after each write, in order, by Churn's goroutine.
	OnWrite func(ChurnWrite)
}

// ChurnWrite is one write that Churn made.
type ChurnWrite struct {
	Time            time.Time // just before the write
	Type            string    // ADDED, MODIFIED or DELETED
	Namespace, Name string
	ResourceVersion string // of the write, the deletion's included
}

// Fill creates the realistic pods 0 to n-1.
func (s *Server) Fill(n int) error {
	t, err := s.table(Pods().GVR)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := s.create(t, RealisticPod(i), direct); err != nil {
			return fmt.Errorf("apisim: fill: pod %d: %w", i, err)
		}
	}
	return nil
}

// Churn creates, updates and deletes pods until ctx ends, and returns nil then.
// An update changes what a kubelet would: a restart count and the readiness
// conditions. Pods written by others meanwhile are left to them: a write that
// meets a conflict is skipped.
func (s *Server) Churn(ctx context.Context, o ChurnOptions) error {
	t, err := s.table(Pods().GVR)
	if err != nil {
		return err
	}
	if !(o.Rate > 0) {
		return fmt.Errorf("apisim: churn: rate %v: it must be above 0", o.Rate)
	}
	if o.Create < 0 || o.Update < 0 || o.Delete < 0 {
		return fmt.Errorf("apisim: churn: shares %d, %d, %d: none may be below 0", o.Create, o.Update, o.Delete)
	}
	if o.Create+o.Update+o.Delete == 0 {
		o.Create, o.Update, o.Delete = 1, 8, 1
	}
	c := churner{s: s, t: t, o: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), next: o.Next}
	for _, r := range s.store.scan(t, scanRequest{}).items {
		c.keys = append(c.keys, r.key)
	}

	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; o.Writes == 0 || n < o.Writes; n++ {
		due := start.Add(time.Duration(math.Round(float64(n) / o.Rate * float64(time.Second))))
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil
			}
		} else if ctx.Err() != nil {
			return nil
		}
		if err := c.write(); err != nil {
			return fmt.Errorf("apisim: churn: %w", err)
		}
	}
	return nil
}

// churner is the state of one Churn; its goroutine owns it.
type churner struct {
	s    *Server
	t    *table
	o    ChurnOptions
	rng  *rand.Rand
	keys []string // pods that exist, in no order
	next int
}

func (c *churner) write() error {
	kind := c.rng.IntN(c.o.Create + c.o.Update + c.o.Delete)
	switch {
	case kind < c.o.Create || len(c.keys) == 0:
		return c.create()
	case kind < c.o.Create+c.o.Update:
		return c.update(c.rng.IntN(len(c.keys)))
	}
	return c.delete(c.rng.IntN(len(c.keys)))
}

func (c *churner) create() error {
	pod := RealisticPod(c.next)
	c.next++
	at := c.stamp(pod)
	r, err := c.s.create(c.t, pod, direct)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.keys = append(c.keys, r.key)
	c.tell(at, typeAdded, r)
	return nil
}

func (c *churner) update(i int) error {
	cur := c.s.store.get(c.t, c.keys[i])
	if cur == nil {
		c.drop(i)
		return nil
	}
	pod := cur.obj.DeepCopyObject().(*corev1.Pod)
	turnPod(pod, c.rng.IntN(4) > 0)
	at := c.stamp(pod)
	if _, err := c.t.res.admitUpdate(cur, pod, direct); err != nil {
		return err
	}
	next := newRevision(&c.t.res, cur.key, pod)
	if c.s.store.commit(c.t, change{next, cur}) {
		c.tell(at, typeModified, next)
	}
	return nil
}

func (c *churner) delete(i int) error {
	at := time.Now()
	ns, name := splitKey(c.keys[i])
	c.drop(i)
	r, err := c.s.remove(c.t, ns, name, preconditions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		c.tell(at, typeDeleted, r)
	}
	return err
}

func (c *churner) drop(i int) {
	last := len(c.keys) - 1
	c.keys[i] = c.keys[last]
	c.keys = c.keys[:last]
}

func (c *churner) stamp(pod *corev1.Pod) time.Time {
	at := time.Now()
	if c.o.Stamp != "" {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, c.o.Stamp, strconv.FormatInt(at.UnixNano(), 10))
	}
	return at
}

func (c *churner) tell(at time.Time, typ string, r *revision) {
	if c.o.OnWrite != nil {
		ns, name := splitKey(r.key)
		c.o.OnWrite(ChurnWrite{Time: at, Type: typ, Namespace: ns, Name: name, ResourceVersion: formatRV(r.rv)})
	}
}

// turnPod sets the readiness of a pod and lets its containers restart, so that
// there is always a change.
func turnPod(pod *corev1.Pod, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if (c.Type == corev1.PodReady || c.Type == corev1.ContainersReady) && c.Status != status {
			c.Status = status
			c.LastTransitionTime = now()
		}
	}
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Ready = ready
		pod.Status.ContainerStatuses[i].RestartCount++
	}
}
