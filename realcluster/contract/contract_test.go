package contract

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"informer.example/apisim/apitest"
	"informer.example/realcluster"
	"informer.example/realcluster/wire"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "after the last test:", err)
		code = 1
	}
	os.Exit(code)
}

// Gates are all at their defaults.
func TestServer(t *testing.T) {
	run(t, realcluster.Options{}, false)
}

// The one gate on which clauses depend.
func TestServerWithSharding(t *testing.T) {
	run(t, realcluster.Options{APIServerFlags: map[string][]string{"feature-gates": {"ShardedListAndWatch=true"}}}, true)
}

func run(t *testing.T, o realcluster.Options, sharding bool) {
	o.CRDs = []*apiextensionsv1.CustomResourceDefinition{wire.WidgetCRD()}
	c := realcluster.ForTest(t, o)
	server := apitest.Server{
		Config:       c.Config(),
		Compact:      func(t *testing.T) { compact(t, c) },
		Restart:      func(t *testing.T) { restart(t, c) },
		Sharding:     sharding,
		Custom:       wire.WidgetResource(),
		CustomKind:   "Widget",
		Uncached:     "events",
		UncachedKind: "Event",
	}
	skips := []string{ // an hour long each, or a minute
		"K18_BookmarkEveryMinute", "K18_NoBookmarkAtTheStart", "K19_DefaultTimeout",
	}
	if sharding {
		skips = append(skips, "S2_ShardSelectorIgnored")
	} else {
		skips = append(skips, "S1_ShardsDivideTheObjects", "S1_ShardsOfAWatch", "S1_ShardsOfCustomResources", "S2_BadShardSelector")
	}
	apitest.Run(t, apitest.Suite{
		Each:     func(t *testing.T, test func(*testing.T, apitest.Server)) { test(t, server) },
		Parallel: true,
		Skips:    skips,
	})
}

// compact makes etcd forget the past, and then the server, whose watch cache would
// go on answering from its own memory.
func compact(t *testing.T, c *realcluster.Cluster) {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	now, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	restart(t, c)
	if err := c.CompactTo(t.Context(), now.ResourceVersion); err != nil {
		t.Fatal(err)
	}
}

// restart returns when the caches of all resources under test have filled, which
// is later than the server calls itself ready.
func restart(t *testing.T, c *realcluster.Cluster) {
	t.Helper()
	if err := c.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := awaitCaches(t.Context(), c.Config()); err != nil {
		t.Fatal(err)
	}
}

func awaitCaches(ctx context.Context, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	fromCache := metav1.ListOptions{ResourceVersion: "0"}
	// The clients come again by themselves when they get a 429.
	if _, err := kube.CoreV1().ConfigMaps("").List(ctx, fromCache); err != nil {
		return fmt.Errorf("wait for the cache of configmaps: %w", err)
	}
	if _, err := kube.CoreV1().Pods("").List(ctx, fromCache); err != nil {
		return fmt.Errorf("wait for the cache of pods: %w", err)
	}
	if _, err := dyn.Resource(wire.WidgetResource()).List(ctx, fromCache); err != nil {
		return fmt.Errorf("wait for the cache of widgets: %w", err)
	}
	return nil
}
