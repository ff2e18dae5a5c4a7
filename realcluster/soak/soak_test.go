package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"informer.example/apisim/fault"
	"informer.example/informer"
	"informer.example/realcluster"
	"informer.example/realcluster/wire"
	"informer.example/reflector"
)

func TestSoak(t *testing.T) { // Q1 to Q4
	cluster := realcluster.ForTest(t, realcluster.Options{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{wire.WidgetCRD()},
		// The disk is not under test, and may be slow.
		EtcdFlags: map[string][]string{"unsafe-no-fsync": {"true"}},
	})
	seen := witness(t, cluster)
	writer := newChurn(t, cluster.Config())
	begin := time.Now()
	writer.fill(t, *podCount)
	t.Logf("%d pods made in %v", *podCount, time.Since(begin).Round(time.Millisecond))

	script := fault.New()
	proxy, err := fault.Proxy(cluster.Config(), script)
	if err != nil {
		t.Fatal(err)
	}
	front, err := fault.Serve(t.Context(), proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := front.Close(); err != nil {
			t.Error(err)
		}
	})

	begin = time.Now()
	followers := startAll(t, front, seen)
	for _, f := range followers {
		eventually(t, f.title()+": sync", f.hasSynced, f.report)
	}
	t.Logf("all synced in %v", time.Since(begin).Round(time.Millisecond))

	shakeAll(t, cluster, writer, script, followers)

	writer.touchAll(t)
	begin = time.Now()
	want := readTruth(t, cluster.Config())
	for _, f := range followers {
		state := versions(want[f.of()])
		eventually(t, f.title()+": the handler is told the server's state", func() bool { return f.knows(state) }, f.report)
	}
	t.Logf("all settled in %v", time.Since(begin).Round(time.Millisecond))
	for _, f := range followers {
		if err := f.look(t.Context()); err != nil {
			t.Error(err)
		}
		f.check(t, want[f.of()])
		t.Log(f.report())
	}
	t.Log(memory())
	for _, f := range followers {
		f.stop(t)
	}
}

// startAll starts an informer of each way in which the state comes, and of each
// encoding and form of object.
func startAll(t *testing.T, front *fault.Listener, seen *history) []follower {
	t.Helper()
	var all []follower
	for how, queue := range map[reflector.WatchListMode]informer.QueueKind{
		reflector.WatchListNever: informer.InOrder, reflector.WatchListAuto: informer.DeltaFIFO,
	} {
		name := "pods, list and watch, "
		if how == reflector.WatchListAuto {
			name = "pods, watch-list, "
		}
		pods := func(e reflector.Encoding) settings[*corev1.Pod] {
			return settings[*corev1.Pod]{podResource, reflector.SourceOptions[*corev1.Pod]{Encoding: e}, how, queue}
		}
		all = append(all,
			follow(t, name+"JSON", front.Config, seen, pods(reflector.EncodingJSON)),
			follow(t, name+"protobuf", front.Config, seen, pods(reflector.EncodingProtobuf)),
			follow(t, name+"metadata", front.Config, seen, settings[*metav1.PartialObjectMetadata]{resource: podResource, how: how, queue: queue}),
		)
	}
	return append(all,
		follow(t, "widgets, watch-list, Unstructured", front.Config, seen, settings[*unstructured.Unstructured]{resource: wire.WidgetResource(), queue: informer.InOrder}),
		follow(t, "widgets, list and watch, own struct", front.Config, seen, settings[*widget]{resource: wire.WidgetResource(), how: reflector.WatchListNever, queue: informer.DeltaFIFO}),
	)
}

// shakeAll writes, breaks and kills for as long as the soak lasts.
func shakeAll(t *testing.T, cluster *realcluster.Cluster, writer *churn, script *fault.Script, followers []follower) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var hits map[string]int
	looks := 0
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { writer.run(ctx, *rate/4, rand.New(rand.NewPCG(*seed, uint64(i)))) })
	}
	wg.Go(func() { hits = breakThings(ctx, script, followers, rand.New(rand.NewPCG(*seed, 99))) })
	wg.Go(func() {
		for ctx.Err() == nil {
			for _, f := range followers {
				if err := f.look(ctx); err == nil {
					looks++
				} else if ctx.Err() == nil {
					t.Error(err)
				}
			}
			wait(ctx, 300*time.Millisecond)
		}
	})
	err := shake(ctx, cluster, followers, *lasts)
	cancel()
	wg.Wait()
	script.Clear()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d writes, %d failed; %d looks at a store; requests that met a fault: %v", writer.wrote.Load(), writer.failed.Load(), looks, hits)
}

// memory is a line about this process.
func memory() string {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	line := fmt.Sprintf("memory: %d MiB live on the heap, %d MiB of the system", m.HeapAlloc>>20, m.Sys>>20)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return line // not Linux
	}
	for l := range strings.Lines(string(status)) {
		if strings.HasPrefix(l, "VmHWM:") {
			line += ", resident at most" + strings.TrimPrefix(strings.Join(strings.Fields(l), " "), "VmHWM:")
		}
	}
	return line
}
