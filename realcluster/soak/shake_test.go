package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"informer.example/apisim/fault"
	"informer.example/realcluster"
)

// breakage is a fault and the requests that may meet it.
type breakage struct {
	name string
	ops  fault.Op
	do   fault.Fault
}

// breakages are faults that a client must get over without help.
func breakages() []breakage {
	return []breakage{
		{"connections break", fault.Any, fault.Break()},
		{"answers are cut", fault.Sync, fault.CutAfter(100_000)},
		{"answers are reset", fault.Any, fault.Reset(20_000)},
		{"no answer", fault.Any, fault.Hang()},
		{"silence after the headers", fault.Stream, fault.Silence()},
		{"too many requests", fault.Any, fault.Overloaded(time.Second)},
		{"too many requests, no word when", fault.Any, fault.Overloaded(0)},
		{"shutting down", fault.Any, fault.Draining()},
		{"panic", fault.Any, fault.Panicked()},
		{"gateway timeout", fault.Any, fault.DeadlineBeforeHeaders()},
		{"unauthorized", fault.Any, fault.Refuse(fault.StatusFor(http.StatusUnauthorized), 0)},
		{"a proxy's page", fault.Any, fault.Respond(http.StatusOK, "text/html", "<html>please log in</html>")},
		{"watches end at once", fault.Stream, fault.EndAfter(0)},
		{"watches end cleanly", fault.Stream, fault.EndAfter(20)},
		{"watches break", fault.Stream, fault.BreakAfter(20)},
		{"watches expire", fault.Watch, fault.ErrorAfter(5, fault.StatusFor(http.StatusGone))},
		{"half a frame, then the end", fault.Stream, fault.CutFrame(7, true)},
		{"half a frame, then a break", fault.Stream, fault.CutFrame(7, false)},
		{"no bookmarks", fault.Stream, fault.DropBookmarks()},
		{"bookmarks twice", fault.Stream, fault.RepeatBookmarks()},
		{"events again", fault.Watch, fault.Replay(5)},
		{"a status behind the items", fault.List, fault.StatusTail(10, fault.StatusFor(http.StatusInternalServerError))},
		{"a list without a token", fault.List, fault.IgnoreQuery("limit")},
		{"an internal error in the stream", fault.Stream, fault.ErrorAfter(3, fault.StatusFor(http.StatusInternalServerError))},
	}
}

// breakThings puts a fault in force, takes it away, and so on until ctx ends.
func breakThings(ctx context.Context, script *fault.Script, rng *rand.Rand) map[string]int {
	hits := make(map[string]int)
	all := breakages()
	var order []int
	for ctx.Err() == nil {
		if len(order) == 0 {
			order = rng.Perm(len(all))
		}
		b := all[order[0]]
		order = order[1:]
		rule := script.On(b.ops).Do(b.do)
		wait(ctx, between(rng, 500*time.Millisecond, 2*time.Second))
		script.Clear()
		hits[b.name] += rule.Hits()
		wait(ctx, between(rng, 500*time.Millisecond, 1500*time.Millisecond))
	}
	return hits
}

func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)))
}

// wait returns after d or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// shake kills the server three times and compacts etcd before each of the last
// two, spread over the time given.
func shake(ctx context.Context, c *realcluster.Cluster, d time.Duration) error {
	begin := time.Now()
	for i, step := range []struct {
		at   float64
		what string
		do   func(context.Context, *realcluster.Cluster) error
	}{
		{0.15, "kill", kill},
		{0.35, "compact", compact},
		{0.45, "kill", kill},
		{0.65, "compact", compact},
		{0.75, "kill", kill},
	} {
		wait(ctx, time.Duration(step.at*float64(d))-time.Since(begin))
		if err := step.do(ctx, c); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, step.what, err)
		}
	}
	wait(ctx, d-time.Since(begin))
	return ctx.Err()
}

func kill(ctx context.Context, c *realcluster.Cluster) error {
	if err := c.KillAPIServer(ctx); err != nil {
		return err
	}
	wait(ctx, time.Second)
	return c.StartAPIServer(ctx)
}

func compact(ctx context.Context, c *realcluster.Cluster) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	now, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	return c.CompactTo(ctx, now.ResourceVersion)
}
