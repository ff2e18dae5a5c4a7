package pipeline

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Examples see all namespaces, so other tests' pods may be in their output too.
func TestExamples(t *testing.T) { // P7
	t.Parallel()
	w := newWriter(t, podResource, makeNamespace(t))
	w.create("still")
	w.create("busy")
	client, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	const ip = "10.77.0.1"
	_, err = client.CoreV1().Pods(w.namespace).Patch(t.Context(), "still", types.MergePatchType,
		[]byte(`{"status":{"phase":"Running","podIP":"`+ip+`","podIPs":[{"ip":"`+ip+`"}]}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	binding := fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"still"},"target":{"kind":"Node","name":"node-of-%s"}}`, w.namespace)
	err = client.CoreV1().RESTClient().Post().Namespace(w.namespace).Resource("pods").Name("still").SubResource("binding").
		SetHeader("Content-Type", "application/json").Body([]byte(binding)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}

	still, busy := w.namespace+"/still", w.namespace+"/busy"
	type example struct {
		name string
		args []string
		want []string // each is somewhere in the output
		why  string
	}
	tests := []example{
		{"poll", nil, []string{"List: ", "Get: ", "UPDATED " + busy}, "changes are found by comparing lists"},
		{"barewatch", nil, []string{"ADDED happened to pod still", "MODIFIED happened to pod busy"}, "what exists comes first"},
		{"factory", nil, []string{"synced: ", " pods, 0 nodes"}, "nodes can be listed though there are none"},
		{"getbykey", []string{"-pod", still}, []string{fmt.Sprintf("pod %s has IP %q", still, ip)}, "a pod that exists"},
		{"ipindex", []string{"-ip", ip}, []string{"1 pods have IP " + ip, "  " + still + " on node node-of-" + w.namespace}, "an index of more than one value"},
		{"workqueue", nil, []string{"pod added: " + still, "pod updated: " + busy}, "handlers run while the worker does"},
		{"monitor", nil, []string{"Pod created: still", "Pod updated: busy"}, "what exists is told as created"},
		{"running", nil, []string{"Pod: still"}, "a field selector that is answered from the cache"},
		{"simpleindex", nil, []string{"node node-of-" + w.namespace + ": [" + still + "]"}, "a value from a function"},
		{"fieldindex", nil, []string{"image example.com/c:1: [", still, busy}, "a path through a list"},
		{"keyindex", nil, []string{"name busy: [", busy}, "the key is split at its slash"},
	}
	dirs, err := os.ReadDir(mainModule + "/docs/examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if d.IsDir() && d.Name() != "internal" && !slices.ContainsFunc(tests, func(e example) bool { return e.name == d.Name() }) {
			t.Errorf("docs/examples/%s is not run here", d.Name())
		}
	}
	mustBuild(t)

	// Something happens all the while.
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touch":"%d"}}}`, n)
			_, err := w.client.Patch(ctx, "busy", types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil && ctx.Err() == nil {
				t.Errorf("update %s: %v", busy, err)
				return
			}
		}
	}()
	defer func() {
		stop()
		<-stopped
	}()
	t.Run("run", func(t *testing.T) {
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				r := runToEnd(t, tc.name, append(tc.args, "-kubeconfig", cluster.KubeconfigFile(), "-for", "4s")...)
				if r.code != 0 || r.stderr != "" {
					t.Errorf("exit code %d, standard error:\n%s", r.code, r.stderr)
				}
				for _, want := range tc.want {
					if !strings.Contains(r.stdout, want) {
						t.Errorf("%q is not in the output (%s):\n%s", want, tc.why, r.stdout)
					}
				}
			})
		}
	})
}

func TestExampleWithoutRights(t *testing.T) { // P7
	t.Parallel()
	r := runToEnd(t, "monitor", "-kubeconfig", nobody(t), "-for", "2s")
	if r.code != 1 || !strings.Contains(r.stderr, "forbidden") || r.stdout != "" {
		t.Errorf("exit code %d, printed %q and, on standard error, %q; want 1, nothing and that it is forbidden", r.code, r.stdout, r.stderr)
	}
}
