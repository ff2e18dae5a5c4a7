package apisim

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func TestRealisticPod(t *testing.T) {
	names, ips := map[string]bool{}, map[string]bool{}
	spaces, nodes, phases := map[string]bool{}, map[string]bool{}, map[corev1.PodPhase]bool{}
	const n = 70_000 // more than two bytes of address
	for i := 0; i < n; i += 49 {
		p := RealisticPod(i)
		names[p.Namespace+"/"+p.Name], ips[p.Status.PodIP] = true, true
		spaces[p.Namespace], nodes[p.Spec.NodeName], phases[p.Status.Phase] = true, true, true
	}
	if len(names) != (n+48)/49 || len(ips) != len(names) {
		t.Errorf("%d names and %d addresses of %d pods", len(names), len(ips), (n+48)/49)
	}
	if len(spaces) != podNamespaces || len(nodes) < podNodes/2 || len(phases) != 3 {
		t.Errorf("%d namespaces, %d nodes, phases %v", len(spaces), len(nodes), phases)
	}
	a, b := RealisticPod(42), RealisticPod(42)
	if !equality.Semantic.DeepEqual(a, b) {
		t.Error("not the same twice")
	}
	if a.Spec.Containers[0].Env[0].Value = "x"; b.Spec.Containers[0].Env[0].Value == "x" {
		t.Error("two pods share memory")
	}
	j, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if len(j) < 4500 || len(j) > 6500 || len(p) < 2700 || len(p) > 3800 {
		t.Errorf("%d bytes of JSON, %d of protobuf", len(j), len(p))
	}
	var back corev1.Pod
	if err := json.Unmarshal(j, &back); err != nil || !equality.Semantic.DeepEqual(&back, b) {
		t.Errorf("does not survive JSON: %v", err)
	}
}

// The schedule is exact, every write is told, and a watch sees each.
func TestChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		if err := s.Fill(20); err != nil {
			t.Fatal(err)
		}
		rv := s.ResourceVersion()
		w := watch(t, s, "/api/v1/pods?watch=1&timeoutSeconds=100&resourceVersion="+rv)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		var told []ChurnWrite
		done := make(chan error, 1)
		go func() {
			done <- s.Churn(ctx, ChurnOptions{Rate: 50, Next: 20, Stamp: "stamp", OnWrite: func(w ChurnWrite) { told = append(told, w) }})
		}()
		events, _ := w.rest(t)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(told) < 499 || len(told) > 501 || len(events) != len(told) {
			t.Fatalf("%d writes told, %d seen", len(told), len(events))
		}
		kinds := map[string]int{}
		for i, e := range events {
			c := told[i]
			kinds[c.Type]++
			if e.String() != fmt.Sprintf("%s %s/%s@%s", c.Type, c.Namespace, c.Name, c.ResourceVersion) {
				t.Fatalf("write %d was told as %+v and seen as %v", i, c, e)
			}
			if at := time.Duration(i) * 20 * time.Millisecond; c.Time.Sub(start) != at || e.at != at {
				t.Errorf("write %d came at %v, was seen at %v", i, c.Time.Sub(start), e.at)
			}
			stamp := e.object.Annotations["stamp"]
			if c.Type != typeDeleted && stamp != strconv.FormatInt(c.Time.UnixNano(), 10) {
				t.Errorf("write %d is stamped %q", i, stamp)
			}
		}
		if kinds[typeAdded] == 0 || kinds[typeDeleted] == 0 || kinds[typeModified] < 300 {
			t.Errorf("kinds %v", kinds)
		}
	})
}

func TestChurnIsRepeatable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(seed uint64) (all []string) {
			s := New()
			if err := s.Fill(10); err != nil {
				t.Fatal(err)
			}
			err := s.Churn(t.Context(), ChurnOptions{Rate: 1e6, Writes: 200, Seed: seed, Next: 10, Create: 1, Update: 2, Delete: 1, OnWrite: func(w ChurnWrite) {
				all = append(all, fmt.Sprint(w.Type, w.Namespace, w.Name, w.ResourceVersion))
			}})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		a, b, c := run(1), run(1), run(2)
		if len(a) != 200 || fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(a) == fmt.Sprint(c) {
			t.Errorf("%d writes; same seed, same writes: %v; another seed, other writes: %v", len(a), fmt.Sprint(a) == fmt.Sprint(b), fmt.Sprint(a) != fmt.Sprint(c))
		}
	})
}

func TestChurnRefusesNonsense(t *testing.T) {
	s := New()
	for _, o := range []ChurnOptions{{}, {Rate: -1}, {Rate: 1, Create: -1}} {
		if err := s.Churn(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if err := New(WithResource(Resource{GVR: Pods().GVR, Kind: "Pod"})).Fill(1); err == nil {
		t.Error("pods of another form can be filled")
	}
}
