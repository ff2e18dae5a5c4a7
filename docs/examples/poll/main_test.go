package main

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
	"informer.example/docs/examples/internal/exampletest"
)

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		p := server.Start(run)
		p.Expect("List: 4 pods", "Get: data/db-0 is Running")

		server.Put(exampletest.Pod("default", "web-2", "node-1", "10.0.1.2", corev1.PodRunning))
		server.Remove("data", "db-0")
		server.Put(exampletest.Pod("default", "short-0", "", "", corev1.PodPending))
		server.Remove("default", "short-0") // between two polls: never seen
		time.Sleep(time.Second)
		p.Expect("DELETED data/db-0", "UPDATED default/web-2")

		// A poll that fails says so, and deletes nothing.
		server.SetFault(func(*http.Request) apisim.Fault { return apisim.Respond(500, "text/plain", "no") })
		time.Sleep(time.Second)
		if lines := p.Lines(); len(lines) != 1 || !strings.HasPrefix(lines[0], "the poll failed on page 1") {
			t.Errorf("a failing poll printed %q", lines)
		}
		p.Stop()
	})
}
