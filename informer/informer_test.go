package informer_test

import (
	"context"
	"errors"
	"fmt"
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
	"informer.example/reflector"
)

func TestListThenWatch(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		create(t, server, "default", "b")
		f, pods := podInformer(t, server, queue)
		h := newRecorder(t, "handler")
		reg := addHandler(t, pods, h)
		if pods.HasSynced() || reg.HasSynced() {
			t.Error("synced before Run")
		}
		start(t, f)

		if !reg.HasSynced() {
			t.Error("the initial list was told, but the registration has not synced")
		}
		for _, e := range h.events {
			if !e.Initial {
				t.Errorf("H2: %s %s is not marked initial", e.Type, e.Key)
			}
		}
		h.wants("ADDED default/a list", "ADDED default/b list")

		create(t, server, "default", "c")
		synctest.Wait()
		changed := setPhase(t, server, "default", "a", "Running")
		synctest.Wait()
		remove(t, server, "default", "b")
		synctest.Wait()
		events := h.take()
		if len(events) != 3 {
			t.Fatalf("told %d events, want 3", len(events))
		}
		for _, e := range events {
			if e.Initial || e.Source != informer.FromWatch {
				t.Errorf("%s %s: initial %v, from %s; want a live event", e.Type, e.Key, e.Initial, e.Source)
			}
		}
		if e := events[1]; e.ResourceVersion != changed.ResourceVersion || e.Old.Status.Phase != "Pending" || e.New.Status.Phase != "Running" {
			t.Errorf("update: %+v", e)
		}
		if e := events[2]; e.Type != informer.Deleted || !e.FinalStateKnown || e.Old == nil || e.ResourceVersion == e.OldResourceVersion {
			t.Errorf("delete: %+v; want the final state, at the resourceVersion of the deletion", e)
		}
		h.checkCurrent(server, pods)
		if got := pods.LastSyncResourceVersion(); got != server.ResourceVersion() {
			t.Errorf("the store stands for %s, the server is at %s", got, server.ResourceVersion())
		}
	})
}

func TestH2_LateHandler(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		start(t, f)
		setPhase(t, server, "default", "a", "Running")
		create(t, server, "default", "b")
		synctest.Wait()

		h := newRecorder(t, "late")
		reg := addHandler(t, pods, h)
		synctest.Wait()
		if !reg.HasSynced() {
			t.Error("has not synced after its first picture")
		}
		for _, e := range h.events {
			if !e.Initial {
				t.Errorf("%s is not marked initial", e.Key)
			}
		}
		h.wants("ADDED default/a list", "ADDED default/b list")
		remove(t, server, "default", "a")
		synctest.Wait()
		h.wants("DELETED default/a watch")
		h.checkCurrent(server, pods)
	})
}

func TestEmptyListSyncs(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		f, pods := podInformer(t, server, queue)
		reg := addHandler(t, pods, newRecorder(t, "handler"))
		start(t, f)
		if !reg.HasSynced() {
			t.Error("a handler has nothing to be told, but has not synced")
		}
		if late := addHandler(t, pods, newRecorder(t, "late")); true {
			synctest.Wait()
			if !late.HasSynced() {
				t.Error("nor has the late one")
			}
		}
	})
}

// A list after lost history is told as the difference between before and
// after: nothing for what stayed, Deleted with an unknown final state for what
// went, Deleted and Added for a name that was taken anew.
func TestH3_H5_RelistIsADifference(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		for _, name := range []string{"gone", "reborn", "same", "updated"} {
			create(t, server, "default", name)
		}
		f, pods := podInformer(t, server, queue)
		h := newRecorder(t, "handler")
		addHandler(t, pods, h)
		start(t, f)
		h.take()

		outage(t, server, func() {
			remove(t, server, "default", "gone")
			remove(t, server, "default", "reborn")
			create(t, server, "default", "reborn")
			create(t, server, "default", "new")
			setPhase(t, server, "default", "updated", "Running")
			server.Compact()
		})

		for _, e := range h.events {
			if e.Type == informer.Deleted && e.FinalStateKnown {
				t.Errorf("%s: the deletion was missed, so its final state can't be known", e.Key)
			}
		}
		lines := h.lines()
		slices.SortStableFunc(lines, func(a, b string) int { // the queues differ in the order of keys
			return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1])
		})
		want := []string{
			"DELETED default/gone relist",
			"ADDED default/new relist",
			"DELETED default/reborn relist",
			"ADDED default/reborn relist",
			"UPDATED default/updated relist",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("told\n  %q\nwant\n  %q", lines, want)
		}
		h.checkCurrent(server, pods)
		if n := pods.Status().Relists[reflector.RelistExpired]; n != 1 {
			t.Errorf("%d relists because of lost history, want 1", n)
		}
	})
}

// outage runs change while no watch is open and none can be opened, and
// returns when the informer has caught up.
func outage(t *testing.T, server *apisim.Server, change func()) {
	t.Helper()
	server.SetFault(func(r *http.Request) apisim.Fault {
		return apisim.Refuse(metav1.Status{Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable}, 0)
	})
	server.CloseWatches()
	synctest.Wait()
	change()
	server.SetFault(nil)
	time.Sleep(2 * time.Minute) // virtual: past every backoff
	synctest.Wait()
}

// A connection that breaks costs a watch, not a list, and loses nothing.
func TestBrokenWatchResumes(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		h := newRecorder(t, "handler")
		addHandler(t, pods, h)
		start(t, f)
		h.take()
		outage(t, server, func() {
			setPhase(t, server, "default", "a", "Running")
			remove(t, server, "default", "a")
			create(t, server, "default", "a")
		})
		want := []string{"UPDATED default/a watch", "DELETED default/a watch", "ADDED default/a watch"}
		if queue := pods.Status(); queue.Lists != 1 {
			t.Errorf("%d lists, want 1", queue.Lists)
		}
		h.wants(want...)
		h.checkCurrent(server, pods)
	})
}

func TestD12_WaitForSyncSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		server.SetFault(func(*http.Request) apisim.Fault {
			return apisim.Refuse(metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden,
				Reason: metav1.StatusReasonForbidden, Message: "pods is forbidden"}, 0)
		})
		f, pods := podInformer(t, server)
		if err := pods.WaitForSync(canceled(t.Context())); err == nil || !strings.Contains(err.Error(), "was Run") {
			t.Errorf("before Start: %v; want a hint that nothing runs", err)
		}
		f.Start(t.Context())
		defer f.Shutdown()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := f.WaitForCacheSync(ctx)
		var notSynced *informer.NotSyncedError
		switch {
		case !errors.As(err, &notSynced):
			t.Fatalf("error %v, want a *NotSyncedError", err)
		case !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("error %v doesn't wrap the context's", err)
		case !apierrors.IsForbidden(notSynced.Status.LastError) || !apierrors.IsForbidden(err):
			t.Errorf("last error %v, want the server's refusal, also found from outside", notSynced.Status.LastError)
		case notSynced.Status.Attempts < 3:
			t.Errorf("%d attempts in a minute", notSynced.Status.Attempts)
		}
		if msg := err.Error(); !strings.Contains(msg, "pods") || !strings.Contains(msg, "forbidden") {
			t.Errorf("message %q doesn't name the resource and the refusal", msg)
		}

		server.SetFault(nil)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("after the refusal ended: %v", err)
		}
	})
}

func TestFailFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		server.SetFault(func(*http.Request) apisim.Fault {
			return apisim.Refuse(metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}, 0)
		})
		f, pods := podInformer(t, server, informer.WithReflector(reflector.Options{FailFast: true}))
		began := time.Now()
		f.Start(t.Context())
		defer f.Shutdown()
		err := f.WaitForCacheSync(t.Context())
		if !apierrors.IsForbidden(err) {
			t.Errorf("error %v, want the refusal that ended Run", err)
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("it took %v", d)
		}
		if _, err := pods.AddEventHandler(newRecorder(t, "handler")); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("AddEventHandler after the end: %v", err)
		}
	})
}

// Stopping must be prompt in whatever state the informer is.
func TestH8_RunEndsAtOnce(t *testing.T) {
	tests := []struct {
		state string
		fault apisim.Fault // nil: none
		after time.Duration
	}{
		{"watching", nil, time.Second},
		{"listing, no answer", apisim.Hang(), time.Second},
		{"waiting after refusals", apisim.Refuse(metav1.Status{Code: 429, Reason: metav1.StatusReasonTooManyRequests}, time.Minute), 5 * time.Second},
		{"list cut again and again", apisim.CutAfter(10), 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apisim.New()
				create(t, server, "default", "a")
				if tt.fault != nil {
					server.SetFault(func(*http.Request) apisim.Fault { return tt.fault })
				}
				pods := ownPods(t, server)
				addHandler(t, pods, newRecorder(t, "handler"), informer.WithHandlerResync(time.Hour))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- pods.Run(ctx) }()
				time.Sleep(tt.after)
				synctest.Wait()
				cancel()
				began := time.Now()
				if err := <-ended; err != nil {
					t.Errorf("Run: %v", err)
				}
				if d := time.Since(began); d > 0 {
					t.Errorf("it took %v", d)
				}
				if err := pods.Err(); err != informer.ErrStopped {
					t.Errorf("it ended by %v", err)
				}
			})
		})
	}
}

func TestIndexes(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		byPhase := func(p pod) ([]string, error) {
			if p.Name == "bad" {
				return nil, errors.New("no such phase")
			}
			return []string{string(p.Status.Phase)}, nil
		}
		if err := pods.AddIndexers(indexer.Indexers[pod]{"phase": byPhase}); err != nil {
			t.Fatal(err)
		}
		start(t, f)
		if err := pods.AddIndexers(indexer.Indexers[pod]{"name": indexer.KeyIndex[pod]()}); err != nil {
			t.Fatalf("an index that comes late: %v", err)
		}
		setPhase(t, server, "default", "a", "Running")
		create(t, server, "default", "bad")
		synctest.Wait()
		for _, q := range []struct {
			index, value string
			want         int
		}{{"phase", "Pending", 0}, {"phase", "Running", 1}, {"name", "a", 1}, {"name", "bad", 1}} {
			got, err := pods.GetIndexer().ByIndex(q.index, q.value)
			if err != nil || len(got) != q.want {
				t.Errorf("ByIndex(%s, %s): %d objects, %v; want %d", q.index, q.value, len(got), err, q.want)
			}
		}
		if n := pods.Status().IndexErrors; n != 1 {
			t.Errorf("%d index errors reported, want 1", n)
		}
		if err := pods.RemoveIndexer("phase"); err != nil {
			t.Error(err)
		}
		if _, err := pods.GetIndexer().ByIndex("phase", "Running"); err == nil {
			t.Error("a removed index still answers")
		}
	})
}

func TestEventsIterator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		create(t, server, "default", "b")
		f, pods := podInformer(t, server)
		start(t, f)
		addHandler(t, pods, informer.HandlerFuncs[pod]{}) // the informer keeps one idle worker from here on
		before := bubbled(t)

		var told []string
		for e := range pods.Events(t.Context()) {
			told = append(told, e.Key.Name)
			if len(told) == 1 {
				create(t, server, "default", "c") // the loop may take its time
				synctest.Wait()
			}
			if e.Key.Name == "c" {
				break
			}
		}
		if !slices.Equal(told, []string{"a", "b", "c"}) {
			t.Errorf("yielded %v", told)
		}
		synctest.Wait()
		if n := bubbled(t); n != before {
			t.Errorf("%d goroutines after the loop broke, %d before", n, before)
		}
		if n := len(pods.Status().Handlers); n != 1 {
			t.Errorf("%d handlers are left, want the one that was there before", n)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range pods.Events(ctx) {
		}
		f.Shutdown()
		for range pods.Events(t.Context()) {
			t.Error("a stopped informer yielded an event")
		}
	})
}

func TestEventsYieldsNothingAfterItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for i := range 50 {
			create(t, server, "ns", fmt.Sprintf("p%02d", i))
		}
		f, pods := podInformer(t, server)
		start(t, f)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for range pods.Events(ctx) {
			n++
			cancel()
			synctest.Wait()
		}
		if n != 1 {
			t.Errorf("%d events after the context had ended", n-1)
		}
	})
}

// A user's function that ends the goroutine it is called on must not leave
// others waiting: t.FailNow in an index function is enough.
func TestGoexitInUserFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f, pods := podInformer(t, server)
		start(t, f)
		err := pods.AddIndexers(indexer.Indexers[pod]{"x": func(pod) ([]string, error) { runtime.Goexit(); return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		reg := addHandler(t, pods, newRecorder(t, "handler"))
		create(t, server, "ns", "a")
		<-reg.Done()

		source, err := reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{
			Transform: func(p pod) (pod, error) { runtime.Goexit(); return p, nil }})
		if err != nil {
			t.Fatal(err)
		}
		i := informer.New(source, informer.Options[pod]{})
		reg = addHandler(t, i, newRecorder(t, "handler"))
		go i.Run(t.Context())
		<-reg.Done()
		if err := i.WaitForSync(t.Context()); !errors.Is(err, informer.ErrCutShort) {
			t.Errorf("WaitForSync: %v, want ErrCutShort", err)
		}
	})
}
