package realcluster

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// ForTest starts a cluster that ends with t. It fails t if it cannot.
func ForTest(t testing.TB, opts Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Main starts a cluster, passes it to ready, runs the package's tests, stops it and
// returns the exit code. It is the body of a TestMain:
//
//	func TestMain(m *testing.M) {
//		os.Exit(realcluster.Main(m, realcluster.Options{}, func(c *realcluster.Cluster) { cluster = c }))
//	}
func Main(m *testing.M, opts Options, ready func(*Cluster)) int {
	c, err := Start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "realcluster:", err)
		return 1
	}
	ready(c)
	code := m.Run()
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "realcluster:", err)
		return 1
	}
	return code
}
