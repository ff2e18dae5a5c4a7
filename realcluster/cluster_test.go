package realcluster_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/realcluster"
)

func newClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func createConfigMap(t *testing.T, client kubernetes.Interface, name string) *corev1.ConfigMap {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}, Data: map[string]string{"n": "0"}}
	cm, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

func TestServerKnowsItsVersion(t *testing.T) {
	version, err := newClient(t, cluster.Config()).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.37.2" || version.Major != "1" || version.Minor != "37" {
		t.Errorf("the server calls itself %s, major %q, minor %q; want v1.37.2, 1, 37", version.GitVersion, version.Major, version.Minor)
	}
}

func TestServersListenOnLoopback(t *testing.T) { // C3
	u, err := url.Parse(cluster.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		t.Errorf("the API server is at %s, which is not a loopback address", u.Host)
	}
	client, err := cluster.EtcdClient()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range client.Endpoints() {
		if u, err := url.Parse(e); err != nil || !net.ParseIP(u.Hostname()).IsLoopback() {
			t.Errorf("etcd is at %s (%v), which is not a loopback address", e, err)
		}
	}
}

func TestAPIServerFlagsArrive(t *testing.T) {
	flags, err := newClient(t, cluster.Config()).CoreV1().RESTClient().Get().AbsPath("/flagz").
		SetHeader("Accept", "text/plain").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The page varies its separators on purpose, so that nobody parses it.
	if !regexp.MustCompile(`max-requests-inflight\W+321\b`).Match(flags) {
		t.Errorf("/flagz does not show the flag that was set:\n%s", flags)
	}
}

func TestRestartKeepsClientsAndForgetsHistory(t *testing.T) { // C5
	client := newClient(t, cluster.Config())
	before := createConfigMap(t, client, "restart")
	host := cluster.Config().Host
	old := before.ResourceVersion
	// The new cache's history begins at its list, so something must have happened since.
	createConfigMap(t, client, "restart-later")

	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := cluster.Config().Host; got != host {
		t.Errorf("the server moved from %s to %s", host, got)
	}
	after, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), before.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("a client made before the restart: %v", err)
	}
	if after.UID != before.UID || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the object changed from %s@%s to %s@%s", before.UID, before.ResourceVersion, after.UID, after.ResourceVersion)
	}
	if err := watchError(t, client, old); !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from before the restart: %v; want 410 Expired", err)
	}
}

// watchError returns the error that the first event of a watch from rv carries.
func watchError(t *testing.T, client kubernetes.Interface, rv string) error {
	t.Helper()
	w, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: rv})
	if err != nil {
		return err
	}
	defer w.Stop()
	event := <-w.ResultChan()
	if event.Type != watch.Error {
		return nil
	}
	return apierrors.FromObject(event.Object)
}

func TestStoppedServerRefuses(t *testing.T) {
	client := newClient(t, cluster.Config())
	for how, end := range map[string]func(context.Context) error{"stopped": cluster.StopAPIServer, "killed": cluster.KillAPIServer} {
		for range 2 { // the second does nothing
			if err := end(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a request to the server that was %s: %v; want connection refused", how, err)
		}
		for range 2 {
			if err := cluster.StartAPIServer(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("a request to the server started again: %v", err)
		}
	}
}

func TestCompactTo(t *testing.T) {
	client := newClient(t, cluster.Config())
	cm := createConfigMap(t, client, "compact")
	old := cm.ResourceVersion
	cm.Data["n"] = "1"
	cm, err := client.CoreV1().ConfigMaps("default").Update(t.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it done
		if err := cluster.CompactTo(t.Context(), cm.ResourceVersion); err != nil {
			t.Fatal(err)
		}
	}
	store, err := cluster.EtcdClient()
	if err != nil {
		t.Fatal(err)
	}
	revision, err := strconv.ParseInt(old, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Get(t.Context(), "/registry/configmaps/default/"+cm.Name, clientv3.WithRev(revision))
	if !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("reading the superseded revision: %v; want that it was compacted", err)
	}
	for _, bad := range []string{"", "0", "-1", "abc", "1.5"} {
		if err := cluster.CompactTo(t.Context(), bad); err == nil {
			t.Errorf("CompactTo(%q) succeeded", bad)
		}
	}
}

func TestUsersMayNothingAtFirst(t *testing.T) {
	config, err := cluster.AddUser("alice", "people")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "alice") {
		t.Errorf("alice lists pods: %v; want that alice is forbidden to", err)
	}
}

func TestKubectl(t *testing.T) {
	out, err := cluster.Kubectl(t.Context(), "get", "namespace", "default", "-o", "name")
	if err != nil || string(out) != "namespace/default\n" {
		t.Errorf("kubectl printed %q, %v", out, err)
	}
	if _, err := cluster.Kubectl(t.Context(), "get", "namespace", "none"); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("kubectl on a missing namespace: %v; want its message", err)
	}
}

func TestStopRemovesAll(t *testing.T) { // C4
	c, err := realcluster.Start(t.Context(), realcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, config := c.KubeconfigFile(), c.Config()
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Error(err)
	}
	for range 2 { // the second does nothing
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig is still there (%v)", err)
	}
	if _, err := newClient(t, config).Discovery().ServerVersion(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a request after Stop: %v; want connection refused", err)
	}
	if err := c.RestartAPIServer(t.Context()); !errors.Is(err, realcluster.ErrStopped) {
		t.Errorf("RestartAPIServer after Stop: %v; want ErrStopped", err)
	}
	if _, err := c.EtcdClient(); !errors.Is(err, realcluster.ErrStopped) {
		t.Errorf("EtcdClient after Stop: %v; want ErrStopped", err)
	}
}

func TestFailedStartSaysWhy(t *testing.T) {
	_, err := realcluster.Start(t.Context(), realcluster.Options{
		APIServerFlags: map[string][]string{"no-such-flag": {"1"}},
	})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("Start with a flag that does not exist: %v; want the server's own words", err)
	}
}

func TestCancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := realcluster.Start(ctx, realcluster.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with a cancelled context: %v", err)
	}
}
