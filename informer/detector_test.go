package informer_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// A handler that changes what it is told is named, with the object.
func TestMutationIsFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		mutate func(pods *informer.Informer[pod], p pod)
		after  func(server *apisim.Server, p pod)
		want   string // the handler
		why    string
	}{
		{"in the call", func(_ *informer.Informer[pod], p pod) { p.Labels["app"] = "mine" }, func(*apisim.Server, pod) {}, "vandal", "checked when the call has returned"},
		{"before the next version", func(*informer.Informer[pod], pod) {}, func(server *apisim.Server, p pod) {
			p.Status.Phase = "Mine"
			setPhase(t, server, "ns", "a", "Failed")
		}, "vandal", "checked when it is replaced"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apisim.New()
				f := informer.NewFactory(server.Config(), new(logLines).option(), informer.WithMutationPolicy(informer.FailOnMutations, 1))
				pods, err := informer.For[pod](f)
				if err != nil {
					t.Fatal(err)
				}
				addHandler(t, pods, informer.HandlerFuncs[pod]{AddFunc: func(p pod) { tt.mutate(pods, p) }}, informer.WithName("vandal"))
				f.Start(t.Context())
				defer f.Shutdown()
				if err := pods.WaitForSync(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if _, err := server.Create(podsGVR, newPod("ns", "a", "Pending")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				p, _, _ := pods.GetIndexer().GetByKey("ns/a")
				tt.after(server, p)
				var found *informer.MutationError
				<-pods.Done()
				if err := pods.Err(); !errors.As(err, &found) {
					t.Fatalf("ended by %v, want a *MutationError: %s", err, tt.why)
				}
				if found.Handler != tt.want || found.Key.Name != "a" {
					t.Errorf("found %+v", found)
				}
			})
		})
	}
}

// Without a mutation nothing is reported, and reporting alone ends nothing.
func TestMutationPolicies(t *testing.T) {
	for _, tt := range []struct {
		policy informer.MutationPolicy
		mutate bool
		want   int
	}{
		{informer.IgnoreMutations, true, 0},
		{informer.ReportMutations, true, 1},
		{informer.ReportMutations, false, 0},
		{informer.FailOnMutations, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, lines := apisim.New(), new(logLines)
			create(t, server, "ns", "a")
			f := informer.NewFactory(server.Config(), lines.option(), informer.WithMutationPolicy(tt.policy, 1))
			pods, err := informer.For[pod](f)
			if err != nil {
				t.Fatal(err)
			}
			start(t, f)
			addHandler(t, pods, informer.HandlerFuncs[pod]{AddFunc: func(p pod) {
				if tt.mutate {
					p.Annotations = map[string]string{"mine": "yes"}
				}
			}})
			time.Sleep(time.Minute)
			setPhase(t, server, "ns", "a", "Running")
			remove(t, server, "ns", "a")
			synctest.Wait()
			if got := lines.about("changed in place"); len(got) != tt.want {
				t.Errorf("%+v: %d reports: %q", tt, len(got), got)
			}
			if n := pods.Snapshot().Len(); n != 0 {
				t.Errorf("%+v: the informer has stopped: %d objects", tt, n)
			}
		})
	}
}
