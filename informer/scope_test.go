package informer_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// scoped makes an informer over a set of namespaces, and runs it.
func scoped(t *testing.T, server *apisim.Server, opts informer.Options[pod], namespaces ...string) *informer.Informer[pod] {
	t.Helper()
	opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	i, err := informer.NewForNamespaces(func(ns string) (reflector.Source[pod], error) {
		return reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{Namespace: ns})
	}, namespaces, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return i
}

// onQueues runs a test in virtual time, once for each queue.
func onQueues(t *testing.T, test func(t *testing.T, opts informer.Options[pod])) {
	for _, kind := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, informer.Options[pod]{Queue: kind}) })
		})
	}
}

func synced(t *testing.T, i *informer.Informer[pod]) {
	t.Helper()
	if err := i.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// Only one namespace or all could be watched, and operators were restarted to
// add one. Here the set changes while the informer runs: adding lists only the
// one, removing tells its objects as out of scope, and nobody else notices.
func TestNamespacesComeAndGo(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		for _, ns := range []string{"a", "b", "c"} {
			create(t, server, ns, "x")
			create(t, server, ns, "y")
		}
		i := scoped(t, server, opts, "a", "b")
		h := newRecorder(t, "h")
		r := addHandler(t, i, h)
		synced(t, i)
		h.wantsSet("ADDED a/x list", "ADDED a/y list", "ADDED b/x list", "ADDED b/y list")
		if !r.HasSynced() {
			t.Error("the handler hasn't synced")
		}

		// A live event of each namespace.
		setPhase(t, server, "b", "x", "Running")
		setPhase(t, server, "a", "x", "Running")
		synctest.Wait()
		h.wantsSet("UPDATED a/x watch", "UPDATED b/x watch")

		before := server.Stats()
		if err := i.AddNamespace("c"); err != nil {
			t.Fatal(err)
		}
		synced(t, i)
		h.wants("ADDED c/x list", "ADDED c/y list")
		if after := server.Stats(); after.Count("", "")-before.Count("", "") > 2 || after.Watches != 3 {
			t.Errorf("adding one namespace made %+v of %+v: others were listed too", after, before)
		}

		if err := i.RemoveNamespace("b"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, e := range h.take() {
			if e.Type != informer.Deleted || e.Key.Namespace != "b" || e.Source != informer.FromScope || e.Reason != informer.OutOfScope || e.FinalStateKnown || e.Old == nil {
				t.Errorf("removing b told %+v", e)
			}
		}
		if got := i.GetIndexer().ListKeys(); !slices.Equal(got, []string{"a/x", "a/y", "c/x", "c/y"}) {
			t.Errorf("the store holds %v", got)
		}
		setPhase(t, server, "b", "x", "Failed")
		setPhase(t, server, "c", "x", "Running")
		synctest.Wait()
		remove(t, server, "a", "y")
		synctest.Wait()
		if e := h.take(); len(e) != 2 || e[0].Key.Namespace != "c" || e[1].Reason != informer.Gone || !e[1].FinalStateKnown {
			t.Errorf("after b left: %v", e)
		}

		// Set: c goes, b comes back, a stays.
		if err := i.SetNamespaces("b", "a", "b"); err != nil {
			t.Fatal(err)
		}
		synced(t, i)
		h.wantsSet("ADDED b/x list", "ADDED b/y list", "DELETED c/x scope", "DELETED c/y scope")
		if got := i.Namespaces(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("namespaces %v", got)
		}
	})
}

// wantsSet is wants in any order: several namespaces have no common one.
func (r *recorder) wantsSet(want ...string) {
	r.t.Helper()
	got := r.lines()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s was told\n  %q\nwant, in any order,\n  %q", r.name, got, want)
	}
}

// A relist of one namespace once wiped the others out of a shared store.
func TestRelistOfOneNamespaceLeavesTheOthers(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "a", "x")
		create(t, server, "b", "x")
		create(t, server, "b", "y")
		i := scoped(t, server, opts, "a", "b")
		h := newRecorder(t, "h")
		addHandler(t, i, h)
		synced(t, i)
		h.take()

		// Nobody may watch b while y goes and the history with it.
		server.SetFault(func(r *http.Request) apisim.Fault {
			if strings.Contains(r.URL.Path, "/namespaces/b/") {
				return apisim.Refuse(metav1.Status{Code: http.StatusInternalServerError, Message: "down"}, 0)
			}
			return nil
		})
		server.CloseWatches()
		synctest.Wait()
		remove(t, server, "b", "y")
		setPhase(t, server, "b", "x", "Running")
		server.Compact()
		time.Sleep(5 * time.Second)
		server.SetFault(nil)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for _, e := range h.take() {
			if e.Key.Namespace != "b" {
				t.Errorf("a was disturbed: %+v", e)
			}
		}
		h.checkCurrent(server, i)
	})
}

// One missing or forbidden namespace once stopped the whole cache.
func TestABadNamespaceBlocksNoOther(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "good", "x")
		create(t, server, "bad", "x")
		forbid := func(r *http.Request) apisim.Fault {
			if strings.Contains(r.URL.Path, "/namespaces/bad/") {
				return apisim.Refuse(metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "not you"}, 0)
			}
			return nil
		}
		server.SetFault(forbid)
		i := scoped(t, server, opts, "good", "bad")
		h := newRecorder(t, "h")
		addHandler(t, i, h)
		synctest.Wait()
		h.wants("ADDED good/x list")

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := i.WaitForSync(ctx)
		if !apierrors.IsForbidden(err) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "namespace bad") || strings.Contains(err.Error(), "namespace good") {
			t.Errorf("WaitForSync: %v; want the bad namespace named, and the reason", err)
		}
		st := i.Status()
		if st.Synced || len(st.Namespaces) != 2 || st.Namespaces[0].Namespace != "bad" || !apierrors.IsForbidden(st.Namespaces[0].LastError) || !st.Namespaces[1].Synced {
			t.Errorf("status %+v", st)
		}
		if st.Phase != reflector.Waiting || st.LastError == nil {
			t.Errorf("the summary is %v, %v; want that of the one that is worst off", st.Phase, st.LastError)
		}

		// It mends by itself, or it is given up.
		if err := i.RemoveNamespace("bad"); err != nil {
			t.Fatal(err)
		}
		synced(t, i)
		if err := i.AddNamespace("bad"); err != nil {
			t.Fatal(err)
		}
		if i.HasSynced() {
			t.Error("synced, although a namespace was added")
		}
		server.SetFault(nil)
		synced(t, i)
		h.wants("ADDED bad/x list")
	})
}

func TestFailFastEndsOneNamespace(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "good", "x")
		create(t, server, "bad", "x")
		server.SetFault(func(r *http.Request) apisim.Fault {
			if strings.Contains(r.URL.Path, "/namespaces/bad/") {
				return apisim.Refuse(metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "not you"}, 0)
			}
			return nil
		})
		opts.Reflector.FailFast = true
		i := scoped(t, server, opts, "good", "bad")
		if err := i.WaitForSync(t.Context()); !apierrors.IsForbidden(err) {
			t.Errorf("WaitForSync: %v, want it at once", err)
		}
		synctest.Wait()
		if st := i.Status(); !apierrors.IsForbidden(st.Namespaces[0].Err) || !st.Namespaces[1].Synced {
			t.Errorf("status %+v", st.Namespaces)
		}
		server.SetFault(nil)
		if err := errors.Join(i.RemoveNamespace("bad"), i.AddNamespace("bad")); err != nil {
			t.Fatal(err)
		}
		synced(t, i)
		if got := i.GetIndexer().Len(); got != 2 {
			t.Errorf("%d objects, want 2: removed and added, it begins anew", got)
		}
	})
}

// A transform that ends its goroutine (as t.FailNow does) takes its namespace
// with it, and no other.
func TestGoexitEndsOneNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "a", "x")
		create(t, server, "b", "x")
		i, err := informer.NewForNamespaces(func(ns string) (reflector.Source[pod], error) {
			return reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{Namespace: ns, Transform: func(p pod) (pod, error) {
				if p.Namespace == "b" {
					runtime.Goexit()
				}
				return p, nil
			}})
		}, []string{"a", "b"}, informer.Options[pod]{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- i.Run(ctx) }()
		if err := i.WaitForSync(t.Context()); !errors.Is(err, informer.ErrCutShort) {
			t.Errorf("WaitForSync: %v, want ErrCutShort", err)
		}
		synctest.Wait()
		if got := i.GetIndexer().ListKeys(); !slices.Equal(got, []string{"a/x"}) {
			t.Errorf("the store holds %v", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestScopeOfNone(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "a", "x")
		i := scoped(t, server, opts)
		h := newRecorder(t, "h")
		r := addHandler(t, i, h)
		synced(t, i) // there is nothing to wait for
		if !r.HasSynced() || i.Namespaces() == nil {
			t.Errorf("synced %v, namespaces %v", r.HasSynced(), i.Namespaces())
		}
		if st := i.Status(); st.Phase != reflector.Idle || len(st.Namespaces) != 0 || !st.Synced {
			t.Errorf("status %+v", st)
		}
		if err := i.AddNamespace("a"); err != nil {
			t.Fatal(err)
		}
		synced(t, i)
		h.wants("ADDED a/x list")
	})
}

func TestScopeErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "a", "x")
		_, whole := podInformer(t, server)
		if err := whole.AddNamespace("a"); !errors.Is(err, informer.ErrNotByNamespace) {
			t.Errorf("an informer over everything: %v", err)
		}
		if whole.Namespaces() != nil {
			t.Errorf("an informer over everything has namespaces %v", whole.Namespaces())
		}
		i := scoped(t, server, informer.Options[pod]{}, "a")
		synced(t, i)
		for _, bad := range []string{"", "a/b", ".."} {
			if err := i.SetNamespaces("b", bad); err == nil {
				t.Errorf("namespace %q: no error", bad)
			}
		}
		if got := i.Namespaces(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("after errors: %v; want no change", got)
		}
		if err := errors.Join(i.RemoveNamespace("none"), i.AddNamespace("a")); err != nil {
			t.Errorf("what is so already: %v", err)
		}
		_, err := informer.NewForNamespaces(func(string) (reflector.Source[pod], error) { return nil, nil }, nil,
			informer.Options[pod]{KeyFunc: object.KeyOf[pod]})
		if err == nil || !strings.Contains(err.Error(), "KeyFunc") {
			t.Errorf("with a KeyFunc: %v", err)
		}

		stopped, err := informer.NewForNamespaces(func(string) (reflector.Source[pod], error) { return nil, nil }, nil, informer.Options[pod]{})
		if err != nil {
			t.Fatal(err)
		}
		if err := stopped.Run(canceled(t.Context())); err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := stopped.AddNamespace("a"); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("after Run: %v", err)
		}
	})
}

// A handler that was behind when a namespace was removed still learns why its
// objects went.
func TestOutOfScopeReachesASlowHandler(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "a", "x")
		create(t, server, "b", "x")
		opts.MaxLag = 2
		i := scoped(t, server, opts, "a", "b")
		h := newRecorder(t, "slow")
		h.gate = make(chan struct{}, 100)
		addHandler(t, i, h)
		synctest.Wait() // it is in its first call, and waits there
		for range 5 {
			setPhase(t, server, "a", "x", "Running")
			setPhase(t, server, "a", "x", "Pending")
			synctest.Wait()
		}
		if err := i.RemoveNamespace("b"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(h.gate)
		synctest.Wait()
		var reasons []informer.DeleteReason
		for _, e := range h.take() {
			if e.Type == informer.Deleted {
				reasons = append(reasons, e.Reason)
			}
		}
		if len(reasons) > 1 || len(reasons) == 1 && reasons[0] != informer.OutOfScope {
			t.Errorf("deletions with reasons %v, want out of scope", reasons)
		}
		if got := i.Snapshot().Len(); got != 1 {
			t.Errorf("%d objects", got)
		}
	})
}

// A namespace that leaves takes its goroutines along: all that are left are
// those of the others.
func TestRemovedNamespaceEndsItsGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		i := scoped(t, server, informer.Options[pod]{}, "a")
		synced(t, i)
		before := bubbled(t)
		for range 20 {
			for _, ns := range []string{"b", "c", "d"} {
				if err := i.AddNamespace(ns); err != nil {
					t.Fatal(err)
				}
			}
			synced(t, i)
			if err := i.SetNamespaces("a"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if after := bubbled(t); after != before {
			t.Errorf("%d goroutines, %d before", after, before)
		}
	})
}

// A handler may change the scope, and an index function too: nothing waits.
func TestScopeIsChangedFromCallbacks(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "a", "x")
		create(t, server, "b", "x")
		create(t, server, "c", "x")
		var i *informer.Informer[pod]
		opts.Indexers = indexer.Indexers[pod]{"grow": func(p pod) ([]string, error) {
			if p.Namespace == "b" {
				return nil, i.AddNamespace("c")
			}
			return nil, nil
		}}
		i = scoped(t, server, opts, "a")
		addHandler(t, i, informer.HandlerFunc[pod](func(e event) {
			var err error
			switch {
			case e.Type == informer.Added && e.Key.Namespace == "a":
				err = i.AddNamespace("b")
			case e.Type == informer.Added && e.Key.Namespace == "c":
				err = i.SetNamespaces("c")
			}
			if err != nil {
				t.Error(err)
			}
		}))
		synctest.Wait()
		if got := i.Namespaces(); !slices.Equal(got, []string{"c"}) {
			t.Errorf("namespaces %v, want those of the last change", got)
		}
		if got := i.GetIndexer().ListKeys(); !slices.Equal(got, []string{"c/x"}) {
			t.Errorf("the store holds %v", got)
		}
	})
}

// The store stands for the lowest version of its namespaces.
func TestVersionOfSeveralNamespaces(t *testing.T) {
	onQueues(t, func(t *testing.T, opts informer.Options[pod]) {
		server := apisim.New()
		create(t, server, "a", "x")
		create(t, server, "b", "x")
		start := server.ResourceVersion()
		i := scoped(t, server, opts, "a", "b")
		synced(t, i)
		if got := i.Snapshot().ResourceVersion(); got != start {
			t.Errorf("after the lists: %s, want %s", got, start)
		}
		server.SetFault(func(r *http.Request) apisim.Fault { // b falls silent
			if strings.Contains(r.URL.Path, "/namespaces/b/") {
				return apisim.Refuse(metav1.Status{Code: http.StatusInternalServerError, Message: "down"}, 0)
			}
			return nil
		})
		server.CloseWatches()
		synctest.Wait()
		setPhase(t, server, "a", "x", "Running")
		synctest.Wait()
		if got := i.Snapshot().ResourceVersion(); got != start {
			t.Errorf("while b is down: %s, want %s still", got, start)
		}
		if err := i.RemoveNamespace("b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := i.Snapshot().ResourceVersion(); got != server.ResourceVersion() {
			t.Errorf("without b: %s, want %s", got, server.ResourceVersion())
		}
	})
}
