package main

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/docs/examples/internal/exampletest"
)

func TestFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exampletest.NewServer(t).Start(run)
		p.Expect("synced: 4 pods, 0 nodes")
		p.Done()
	})
}

// A cache that can never sync says why.
func TestFactoryForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		server.SetFault(func(r *http.Request) apisim.Fault {
			if r.URL.Path != "/api/v1/nodes" {
				return nil
			}
			return apisim.Refuse(metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "nodes is forbidden"}, 0)
		})
		p := server.Start(run)
		p.Expect()
		if err := p.Fails().Error(); !strings.Contains(err, "nodes is forbidden") || strings.Contains(err, "pods") {
			t.Errorf("the error is %q; want it to say that nodes are forbidden, and nothing of pods", err)
		}
	})
}
