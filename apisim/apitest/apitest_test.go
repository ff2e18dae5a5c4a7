package apitest_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
	"informer.example/apisim/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var widgets = schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}

func widgetResource() apisim.Resource {
	r := apisim.CustomResource(widgets, "Widget", true)
	r.Fields = func(o runtime.Object) map[string]string {
		u := o.(*unstructured.Unstructured)
		color, _, _ := unstructured.NestedString(u.Object, "spec", "color")
		return map[string]string{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace(), "spec.color": color}
	}
	return r
}

// TestSimulator holds the simulator against the contract, in memory and in
// virtual time.
func TestSimulator(t *testing.T) {
	run(t, []string{"S1_ShardsDivideTheObjects", "S1_ShardsOfAWatch", "S1_ShardsOfCustomResources", "S2_BadShardSelector"})
}

func TestSimulatorWithSharding(t *testing.T) {
	run(t, []string{"S2_ShardSelectorIgnored"}, apisim.WithSharding())
}

func run(t *testing.T, skips []string, opts ...apisim.Option) {
	apitest.Run(t, apitest.Suite{
		Each: func(t *testing.T, test func(*testing.T, apitest.Server)) {
			synctest.Test(t, func(t *testing.T) {
				s := apisim.New(append(opts, apisim.WithResource(widgetResource()))...)
				test(t, apitest.Server{
					Config:       s.Config(),
					Virtual:      true,
					Compact:      func(*testing.T) { s.Compact() },
					Restart:      func(*testing.T) { s.Restart(apisim.RestartOptions{}) },
					Sharding:     len(opts) > 0,
					Custom:       widgets,
					CustomKind:   "Widget",
					Uncached:     "events",
					UncachedKind: "Event",
				})
			})
		},
		Skips: skips,
	})
}
