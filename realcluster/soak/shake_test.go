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
// Connections are cut when it begins, so that everybody comes again and meets it;
// then there is the time to get the whole state again.
func breakThings(ctx context.Context, script *fault.Script, followers []follower, rng *rand.Rand) map[string]int {
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
		for _, f := range followers {
			f.gate().CutOnce()
		}
		wait(ctx, between(rng, 500*time.Millisecond, 2*time.Second))
		script.Clear()
		hits[b.name] += rule.Hits()
		calm := time.Duration(*podCount) * time.Millisecond / 2
		wait(ctx, calm+between(rng, 500*time.Millisecond, 1500*time.Millisecond))
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

// shake kills the server three times, spread over the time given. The second and
// third time nobody sees what is written for a while before, and etcd forgets it
// too: history is lost.
func shake(ctx context.Context, c *realcluster.Cluster, followers []follower, d time.Duration) error {
	begin := time.Now()
	for i, step := range []struct {
		at float64
		do func(context.Context, *realcluster.Cluster, []follower) error
	}{
		{0.15, kill},
		{0.4, loseHistory},
		{0.7, loseHistory},
	} {
		wait(ctx, time.Duration(step.at*float64(d))-time.Since(begin))
		if err := step.do(ctx, c, followers); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
	}
	wait(ctx, d-time.Since(begin))
	return ctx.Err()
}

func kill(ctx context.Context, c *realcluster.Cluster, _ []follower) error {
	if err := c.KillAPIServer(ctx); err != nil {
		return err
	}
	wait(ctx, time.Second)
	return c.StartAPIServer(ctx)
}

func loseHistory(ctx context.Context, c *realcluster.Cluster, followers []follower) error {
	for _, f := range followers {
		f.gate().Cut()
		defer f.gate().Mend()
	}
	wait(ctx, 2*time.Second) // the churn goes on
	if err := compact(ctx, c); err != nil {
		return err
	}
	return kill(ctx, c, nil)
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
