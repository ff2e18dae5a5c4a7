package informer_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"informer.example/apisim"
	"informer.example/apisim/fault"
	"informer.example/informer"
	"informer.example/reflector"
)

func wantLines(t *testing.T, when string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: told\n  %q\nwant\n  %q", when, got, want)
	}
}

// What no event told of is found by the verification, told to handlers, and
// counted; without it, it stays.
func TestF49_VerificationFindsDrift(t *testing.T) {
	for _, verified := range []bool{true, false} {
		for _, kind := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
			t.Run(kind.String()+map[bool]string{true: "/verified", false: "/left alone"}[verified], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := apisim.New()
					var lease []types.NamespacedName
					for _, name := range []string{"a", "b", "c"} {
						create(t, server, "default", name)
						lease = append(lease, types.NamespacedName{Namespace: "default", Name: name})
					}
					create(t, server, "default", "stays")
					opts := []informer.FactoryOption{informer.WithQueue(kind)}
					if verified {
						opts = append(opts, informer.WithVerification(10*time.Minute))
					}
					f, pods := podInformer(t, server, opts...)
					h := newRecorder(t, "handler")
					addHandler(t, pods, h)
					start(t, f)
					h.take()

					script := fault.New()
					script.On(fault.Watch).Times(1).Do(fault.EndAfter(1))
					server.SetFault(script.Choose)
					server.CloseWatches()
					synctest.Wait()
					if err := server.DeleteTogether(podsGVR, lease...); err != nil {
						t.Fatal(err)
					}
					time.Sleep(9 * time.Minute)
					synctest.Wait()
					h.wants("DELETED default/a watch")
					if st := pods.Status(); st.Objects != 3 || st.Drift != 0 {
						t.Errorf("before: %d objects, drift %d", st.Objects, st.Drift)
					}
					time.Sleep(2 * time.Minute)
					synctest.Wait()
					st := pods.Status()
					if !verified {
						h.wants()
						if st.Objects != 3 || st.Relists[reflector.RelistVerify] != 0 {
							t.Errorf("left alone: %d objects, relists %v", st.Objects, st.Relists)
						}
						return
					}
					h.wants("DELETED default/b relist", "DELETED default/c relist")
					drift := uint64(2)
					if kind == informer.DeltaFIFO {
						drift = 0 // it takes a list apart, and can't tell
					}
					if st.Objects != 1 || st.Drift != drift || st.Relists[reflector.RelistVerify] != 1 {
						t.Errorf("after: %d objects, drift %d, relists %v", st.Objects, st.Drift, st.Relists)
					}
					h.checkCurrent(server, pods)
					time.Sleep(time.Hour)
					synctest.Wait()
					h.wants()
					if st := pods.Status(); st.Drift != drift || st.Relists[reflector.RelistVerify] < 5 {
						t.Errorf("much later: drift %d, relists %v", st.Drift, st.Relists)
					}
				})
			})
		}
	}
}

// A server that is restored from a backup never had what was written since: the
// store goes back with it, and handlers are told so.
func TestF55_RollbackIsTold(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		cluster, err := apisim.NewCluster(1)
		if err != nil {
			t.Fatal(err)
		}
		server := cluster.Server(0)
		create(t, server, "default", "kept")
		create(t, server, "default", "restored")
		create(t, server, "default", "undone")
		backup := server.ResourceVersion()
		f, pods := podInformer(t, server, queue)
		h := newRecorder(t, "handler")
		addHandler(t, pods, h)
		start(t, f)
		setPhase(t, server, "default", "undone", "Running")
		remove(t, server, "default", "restored")
		create(t, server, "default", "never")
		synctest.Wait()
		h.take()
		before := pods.LastSyncResourceVersion()

		if err := cluster.Rollback(backup); err != nil {
			t.Fatal(err)
		}
		server.Restart(apisim.RestartOptions{Cut: true})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		got := h.lines()
		slices.Sort(got)
		wantLines(t, "after the rollback", got, []string{"ADDED default/restored relist", "DELETED default/never relist", "UPDATED default/undone relist"})
		st := pods.Status()
		if st.Relists[reflector.RelistRollback] != 1 || st.Phase != reflector.Watching || pods.LastSyncResourceVersion() != backup {
			t.Errorf("the store went from %s to %s, the backup is of %s; %+v", before, pods.LastSyncResourceVersion(), backup, st.Status)
		}
		h.checkCurrent(server, pods)
		// Versions are given out again, to other writes.
		create(t, server, "default", "new")
		setPhase(t, server, "default", "undone", "Failed")
		synctest.Wait()
		h.wants("ADDED default/new watch", "UPDATED default/undone watch")
		h.checkCurrent(server, pods)
	})
}
