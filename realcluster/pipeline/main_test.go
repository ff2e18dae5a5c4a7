package pipeline

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"informer.example/realcluster"
	"informer.example/realcluster/wire"
)

// cluster is shared by all tests, each in a namespace of its own. Tests that stop
// the server, or need to be the only ones who write, are not parallel.
var cluster *realcluster.Cluster

// scratch holds the main module's programs once they are built.
var scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pipeline-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	code := realcluster.Main(m, realcluster.Options{
		APIServerFlags: map[string][]string{
			// Secrets are served from etcd itself, so a compaction shows without a restart.
			"watch-cache-sizes": {"secrets#0"},
		},
		CRDs: []*apiextensionsv1.CustomResourceDefinition{wire.WidgetCRD()},
	}, func(c *realcluster.Cluster) { cluster = c })
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "after the last test:", err)
		return 1
	}
	return code
}
