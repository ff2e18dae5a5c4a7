package realcluster_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"informer.example/realcluster"
)

// cluster is shared by the tests of this package; each keeps to objects of its own.
var cluster *realcluster.Cluster

func TestMain(m *testing.M) {
	code := realcluster.Main(m, realcluster.Options{
		APIServerFlags: map[string][]string{"max-requests-inflight": {"321"}},
	}, func(c *realcluster.Cluster) { cluster = c })
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "after Stop:", err)
		code = 1
	}
	os.Exit(code)
}
