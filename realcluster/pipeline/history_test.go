package pipeline

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/realcluster"
	"informer.example/reflector"
)

// loseSight cuts every connection and changes things meanwhile, in each way that a
// list can differ from the one before.
func (f *fleet) loseSight() {
	f.t.Helper()
	for _, s := range f.followers {
		s.take()
		s.gate().Cut()
	}
	f.write(func(w *writer) {
		w.touch("a-00")
		w.touch("a-00") // two steps, told as one
		w.remove("a-01")
		w.remove("a-02")
		w.create("a-02") // told as two
		w.create("b-00")
		w.touch("b-00")
		w.create("b-01")
		w.remove("b-01") // never told
	})
}

// compact makes etcd forget what was before the newest write.
func compact(t *testing.T, writers []*writer) {
	t.Helper()
	compactAt(t, cluster, writers)
}

func compactAt(t *testing.T, c *realcluster.Cluster, writers []*writer) {
	t.Helper()
	newest := "1"
	for _, w := range writers {
		for _, v := range w.state() {
			if object.Newer(v.ResourceVersion, newest) {
				newest = v.ResourceVersion
			}
		}
	}
	if err := c.CompactTo(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
}

// restart stops and starts the server, and waits until it serves widgets again,
// which takes longer than to be ready.
func restart(t *testing.T) {
	t.Helper()
	restartAt(t, cluster)
}

func restartAt(t *testing.T, c *realcluster.Cluster) {
	t.Helper()
	if err := c.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server serves widgets again", func() bool {
		_, err = client.Resource(widgetResource).List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil
	}, func() string { return fmt.Sprint(err) })
}

func TestRelistAfterCompaction(t *testing.T) { // P1, P2, P4; restarts the server
	f := newFleet(t)
	f.create("a", 12)
	f.start()
	f.settle()
	before := f.states()
	f.loseSight()
	after := f.states()
	f.written()
	compact(t, f.writers)
	restart(t) // or its watch cache would still have the history
	for _, s := range f.followers {
		s.gate().Mend()
	}
	f.settle()
	want := f.written()
	for resource := range after {
		want[resource] = differences(before[resource], after[resource])
	}
	f.checkTold(informer.FromRelist, want)
	f.checkCaches()
	for _, s := range f.followers {
		status := s.status()
		if status.Relists[reflector.RelistExpired] != 1 || len(status.Relists) != 1 {
			t.Errorf("%s: relists: %v; want one, because history had expired", s.title(), status.Relists)
		}
	}

	// The watch goes on from there.
	f.write(func(w *writer) { w.touch("a-05"); w.remove("b-00") })
	f.settle()
	f.checkTold(informer.FromWatch, f.written())
	f.checkCaches()
	f.stop()
}

// Secrets are served without a watch cache here, so the compaction itself is what
// the watch meets.
func TestRelistAfterCompactionAlone(t *testing.T) { // P1, P2, P4; compacts others' history
	namespace := makeNamespace(t)
	f := &fleet{t: t, writers: []*writer{newWriter(t, secretResource, namespace)}}
	f.create("a", 7)
	for _, e := range []reflector.Encoding{reflector.EncodingProtobuf, reflector.EncodingJSON} {
		f.followers = append(f.followers, follow(t, fmt.Sprintf("secrets, encoding %d", e), namespace,
			settings[*corev1.Secret]{secretResource, e, informer.InOrder, listSecrets}))
	}
	f.waitSynced()
	f.settle()
	before := f.states()
	f.loseSight()
	after := f.states()
	compact(t, f.writers)
	for _, s := range f.followers {
		s.gate().Mend()
	}
	f.settle()
	want := f.written()
	want[secretResource] = differences(before[secretResource], after[secretResource])
	f.checkTold(informer.FromRelist, want)
	f.checkCaches()
	for _, s := range f.followers {
		if status := s.status(); status.Relists[reflector.RelistExpired] != 1 || len(status.Relists) != 1 {
			t.Errorf("%s: relists: %v; want one, because history had expired", s.title(), status.Relists)
		}
	}
	f.stop()
}

func TestServerRestart(t *testing.T) { // P1, P2, P5; restarts the server
	f := newFleet(t)
	f.create("a", 12)
	f.start()
	f.settle()
	f.written()
	for _, s := range f.followers {
		s.take()
	}
	t.Cleanup(func() { // for the other tests, if this one fails half-way
		if err := cluster.StartAPIServer(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := cluster.StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.followers {
		eventually(t, s.title()+": the server's end is noticed",
			func() bool { return s.status().LastError != nil },
			func() string { return fmt.Sprintf("%+v", s.status()) })
		// What is known stays readable meanwhile.
		if !s.hasSynced() {
			t.Errorf("%s: no longer synced", s.title())
		}
	}
	restart(t)
	f.write(func(w *writer) {
		w.touch("a-00")
		w.touch("a-01")
		w.remove("a-02")
		w.create("b-00")
	})
	f.settle()
	f.checkCaches()
	for _, s := range f.followers {
		// Whether the new server still has the history depends on what else was
		// written; lost history is the only good reason for a list.
		for reason, n := range s.status().Relists {
			if reason != reflector.RelistExpired || n != 1 {
				t.Errorf("%s: %d relists because of %s", s.title(), n, reason)
			}
		}
		eventually(t, s.title()+": the error is over",
			func() bool { return s.status().LastError == nil },
			func() string { return fmt.Sprintf("%+v", s.status()) })
	}
	f.stop()
}
