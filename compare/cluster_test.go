package compare

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
)

// clusterOf serves an apisim in the way of a cluster: by a kubeconfig.
func clusterOf(t *testing.T) (server *apisim.Server, kubeconfig string) {
	t.Helper()
	server = apisim.New(apisim.WithResource(apisim.Resource{
		GVR: serviceAccounts(), Kind: "ServiceAccount", Namespaced: true, Prototype: &corev1.ServiceAccount{},
	}))
	ctx, cancel := context.WithCancel(context.Background())
	url, wait, err := server.Serve(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = wait()
	})
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	content := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"" + url + "\"}}]\n" +
		"contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return server, kubeconfig
}

func serviceAccounts() schema.GroupVersionResource {
	return corev1.SchemeGroupVersion.WithResource("serviceaccounts")
}

// names lists what there is of a resource.
func namesOf(t *testing.T, server *apisim.Server, gvr schema.GroupVersionResource) (names []string) {
	t.Helper()
	objects, _, err := server.List(gvr, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		m := obj.(metav1.Object)
		names = append(names, m.GetNamespace()+"/"+m.GetName())
	}
	return names
}

func TestRunOnCluster(t *testing.T) {
	server, kubeconfig := clusterOf(t)
	if err := server.Fill(2); err != nil { // somebody else's pods
		t.Fatal(err)
	}
	before := namesOf(t, server, podsResource)

	opts := tiny()
	opts.Kubeconfig = kubeconfig
	result, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	if result.Config.Server != "cluster" || len(result.Subjects) != 3 {
		t.Errorf("server %q, %d subjects", result.Config.Server, len(result.Subjects))
	}
	for _, s := range result.Subjects {
		checkPlausible(t, s)
	}

	// M7: what was made is gone, the rest is as it was.
	if after := namesOf(t, server, podsResource); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("pods afterwards: %v, before: %v", after, before)
	}
	if left := namesOf(t, server, apisim.Namespaces().GVR); len(left) != 0 {
		t.Errorf("namespaces afterwards: %v", left)
	}
}

// M7 when it is ended in the middle.
func TestM7ClusterInterrupted(t *testing.T) {
	server, kubeconfig := clusterOf(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("enough")
	opts := tiny()
	opts.Kubeconfig = kubeconfig
	opts.Duration = time.Minute
	opts.Rate = 10
	opts.OnProgress = func(p Progress) {
		if p.Phase == Writing {
			cancel(why)
		}
	}
	if _, err := Run(ctx, opts); !errors.Is(err, why) {
		t.Fatalf("err = %v; want the context's cause", err)
	}
	if left := namesOf(t, server, apisim.Namespaces().GVR); len(left) != 0 {
		t.Errorf("namespaces afterwards: %v", left)
	}
}

// The pods of a real cluster must never start there, nor be taken by the garbage
// collector for somebody's.
func TestClusterPodIsInert(t *testing.T) {
	pod := (&cluster{namespace: "ours"}).pod(7)
	if pod.Spec.SchedulerName != noScheduler || pod.Spec.NodeName != "" || len(pod.OwnerReferences) != 0 ||
		pod.Namespace != "ours" || pod.Spec.ServiceAccountName != account {
		t.Errorf("%+v", pod)
	}
}

// What could not be removed is named, also after an interruption.
func TestM7LeftoverIsNamed(t *testing.T) {
	for _, interrupt := range []bool{false, true} {
		server, kubeconfig := clusterOf(t)
		server.SetFault(func(r *http.Request) apisim.Fault {
			if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/namespaces/informerlab-compare-") && !strings.Contains(r.URL.Path, "/pods") {
				return apisim.Refuse(metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "planted"}, 0)
			}
			return nil
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		opts := tiny()
		opts.Subjects = []string{oursName}
		opts.Kubeconfig = kubeconfig
		opts.Duration = 200 * time.Millisecond
		opts.OnProgress = func(p Progress) {
			if interrupt && p.Phase == Writing {
				cancel(why)
			}
		}
		_, err := Run(ctx, opts)
		cancel(nil)
		left := (*CleanupError)(nil)
		if !errors.As(err, &left) || !strings.HasPrefix(left.Namespace, "informerlab-compare-") || errors.Is(err, why) != interrupt {
			t.Errorf("interrupted: %v, err = %v; want a CleanupError", interrupt, err)
		}
	}
}
