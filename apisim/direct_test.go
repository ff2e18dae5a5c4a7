package apisim

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The direct verbs: what they return, and that nobody shares memory with the
// store.
func TestDirectVerbs(t *testing.T) {
	s := New()
	gvr := Pods().GVR
	mine := pod("a", "p", "l", "1")
	mine.Kind, mine.APIVersion = "Pod", "v1"
	mine.Status.PodIP = "10.0.0.1"
	stored, err := s.Create(gvr, mine)
	if err != nil {
		t.Fatal(err)
	}
	p := stored.(*corev1.Pod)
	if p.ResourceVersion != "101" || p.UID == "" || p.Status.PodIP != "10.0.0.1" || p.Kind != "" || mine.UID != "" {
		t.Errorf("created %+v from %+v", p, mine)
	}
	mine.Labels["l"], p.Labels["l"] = "mine", "theirs"
	if got, _ := s.Get(gvr, "a", "p"); got.(*corev1.Pod).Labels["l"] != "1" {
		t.Error("the store shares memory with its callers")
	}

	if _, err := s.Create(gvr, pod("a", "p")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Update(gvr, p); err != nil { // RV 101 is current
		t.Errorf("update: %v", err)
	}
	if _, err := s.Update(gvr, p); !apierrors.IsConflict(err) {
		t.Errorf("update with an old RV: %v", err)
	}
	if _, err := s.Update(gvr, pod("a", "q")); !apierrors.IsNotFound(err) {
		t.Errorf("update of nothing: %v", err)
	}
	if _, err := s.Apply(gvr, p); err != nil { // an old RV does not matter
		t.Errorf("apply: %v", err)
	}
	st := pod("x", "x")
	st.Namespace, st.Name, st.Status.Phase = "a", "p", corev1.PodFailed
	if got, err := s.UpdateStatus(gvr, st); err != nil || got.(*corev1.Pod).Labels["l"] != "theirs" || got.(*corev1.Pod).Status.Phase != corev1.PodFailed {
		t.Errorf("update status: %v %v", got, err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "a", "name": "u"}, "spec": map[string]any{"nodeName": "n"}}}
	if got, err := s.Create(gvr, u); err != nil || got.(*corev1.Pod).Spec.NodeName != "n" {
		t.Errorf("unstructured create: %v %v", got, err)
	}
	if last, err := s.Delete(gvr, "a", "p"); err != nil || last.(*corev1.Pod).ResourceVersion != s.ResourceVersion() {
		t.Errorf("delete: %v %v", last, err)
	}
	if _, err := s.Delete(gvr, "a", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("delete of nothing: %v", err)
	}
	if _, err := s.Get(gvr, "a", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("get of nothing: %v", err)
	}
	for why, obj := range map[string]runtime.Object{"nil": nil, "nil pointer": (*corev1.Pod)(nil), "another kind": &corev1.ConfigMap{}, "namespace missing": pod("", "p")} {
		if _, err := s.Create(gvr, obj); !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := s.Create(widgets, pod("a", "p")); !apierrors.IsNotFound(err) {
		t.Errorf("unknown resource: %v", err)
	}
}

// S1, S3 under concurrency: unconditional updates all succeed and get RVs of
// their own; of conditional ones, one wins each version.
func TestConcurrentWrites(t *testing.T) {
	s := New()
	put(t, s, pod("a", "p"))
	put(t, s, pod("a", "q"))
	var wg sync.WaitGroup
	var won sync.Map
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				put(t, s, pod("a", "p", "by", fmt.Sprint(g, "-", i)))
				cur, err := s.Get(Pods().GVR, "a", "q")
				if err != nil {
					t.Error(err)
					return
				}
				rv := cur.(*corev1.Pod).ResourceVersion
				cur.(*corev1.Pod).Labels = map[string]string{"by": fmt.Sprint(g, "-", i)}
				if _, err := s.Update(Pods().GVR, cur); err == nil {
					if _, twice := won.LoadOrStore(rv, true); twice {
						t.Errorf("version %s was replaced twice", rv)
					}
				} else if !apierrors.IsConflict(err) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wins := 0
	won.Range(func(any, any) bool { wins++; return true })
	if want := formatRV(uint64(firstRV + 2 + 8*50 + wins)); s.ResourceVersion() != want {
		t.Errorf("RV %s, want %s", s.ResourceVersion(), want)
	}
}

// hookedPod calls hook when it is compared, which is between the read and the
// commit of an update.
type hookedPod struct {
	corev1.Pod
	hook *func()
}

func (p *hookedPod) Size() int {
	if f := *p.hook; f != nil {
		*p.hook = nil
		f()
	}
	return p.Pod.Size()
}
func (p *hookedPod) DeepCopyObject() runtime.Object { return &hookedPod{*p.Pod.DeepCopy(), p.hook} }

// S3: an update without an RV that loses a race tries again on the new version;
// one with an RV is refused.
func TestUpdateThatLosesARace(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "hooked.example", Version: "v1", Resource: "pods"}
	s := New(WithResource(Resource{GVR: gvr, Kind: "Hooked", Namespaced: true, Prototype: &hookedPod{}}))
	var hook func()
	labelled := func(l string) *hookedPod { return &hookedPod{*pod("a", "p", "l", l), &hook} }
	if _, err := s.Create(gvr, labelled("1")); err != nil {
		t.Fatal(err)
	}
	between := func() {
		if _, err := s.Update(gvr, labelled("other")); err != nil {
			t.Error(err)
		}
	}

	hook = between
	got, err := s.Update(gvr, labelled("2"))
	if err != nil {
		t.Fatalf("unconditional: %v", err)
	}
	if p := got.(*hookedPod); p.ResourceVersion != "103" || p.Labels["l"] != "2" {
		t.Errorf("unconditional: %s %v", p.ResourceVersion, p.Labels)
	}
	hook = between
	p := labelled("3")
	p.ResourceVersion = "103"
	if _, err := s.Update(gvr, p); !apierrors.IsConflict(err) {
		t.Errorf("conditional: %v", err)
	}
	if rv := s.ResourceVersion(); rv != "104" {
		t.Errorf("RV %s", rv)
	}
}
