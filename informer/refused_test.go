package informer_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
	"informer.example/apisim/fault"
	"informer.example/informer"
	"informer.example/reflector"
)

// meets gives requests of a kind an answer, from now on.
func meets(server *apisim.Server, ops fault.Op, f fault.Fault) {
	script := fault.New()
	script.On(ops).Do(f)
	server.SetFault(script.Choose)
}

// What a server refuses is named by WaitForSync and by Status: the code, the
// request, and what to do. It is over by itself once somebody mends it.
func TestD12_RefusalsAreNamed(t *testing.T) {
	tests := []struct {
		code   int
		why    string
		meets  fault.Op
		is     func(error) bool
		synced bool // in spite of it
		said   []string
	}{
		{401, "the token has expired", fault.Any, apierrors.IsUnauthorized, false, []string{"401 Unauthorized", "the credentials are missing, wrong or expired"}},
		{403, "RBAC lacks a rule", fault.Any, apierrors.IsForbidden, false, []string{"403 Forbidden", `RBAC must allow the verb "`, `on resource "pods" in API group "" (core)`}},
		{404, "the CRD isn't installed yet", fault.Any, apierrors.IsNotFound, false, []string{"404 Not Found", "doesn't serve pods in v1", "CRD"}},
		{405, "the resource can't be listed", fault.Any, apierrors.IsMethodNotSupported, false, []string{"405 Method Not Allowed", "the resource doesn't support list"}},
		{405, "it can be listed and not watched: there is a state, and it grows old", fault.Stream, apierrors.IsMethodNotSupported, true, []string{"405 Method Not Allowed", "can't be watched, only polled", "WithPolling"}},
		{403, "it may be listed and not watched", fault.Stream, apierrors.IsForbidden, true, []string{"403 Forbidden", `RBAC must allow the verb "watch"`}},
	}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.code)+"/"+tt.why, func(t *testing.T) {
			onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
				server := apisim.New()
				create(t, server, "default", "a")
				meets(server, tt.meets, fault.Refuse(fault.StatusFor(tt.code), 0))
				f, pods := podInformer(t, server, queue)
				h := newRecorder(t, "handler")
				addHandler(t, pods, h)
				f.Start(t.Context())
				defer f.Shutdown()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				err := f.WaitForCacheSync(ctx)
				if tt.synced {
					if err != nil {
						t.Errorf("not synced: %v", err)
					}
					time.Sleep(5 * time.Minute)
				} else if notSynced, ok := errors.AsType[*informer.NotSyncedError](err); !ok || !tt.is(err) || !errors.Is(err, context.DeadlineExceeded) || notSynced.Status.LastError == nil {
					t.Errorf("%v: want a *NotSyncedError of the refusal", err)
				}
				st := pods.Status()
				// At least one attempt every 30 s, the longest wait.
				if !tt.is(st.LastError) || st.Attempts < 5 || st.FailingSince.IsZero() || st.Phase != reflector.Waiting {
					t.Errorf("status %+v", st.Status)
				}
				for _, said := range tt.said {
					if !tt.synced && !strings.Contains(err.Error(), said) || !strings.Contains(st.LastError.Error(), said) {
						t.Errorf("%q isn't said by\n%v\n%v", said, err, st.LastError)
					}
				}
				server.SetFault(nil)
				time.Sleep(31 * time.Second)
				synctest.Wait()
				if st := pods.Status(); !st.Synced || st.Phase != reflector.Watching {
					t.Errorf("mended, and still: %+v", st.Status)
				}
				create(t, server, "default", "b")
				synctest.Wait()
				h.wants("ADDED default/a list", "ADDED default/b watch")
			})
		})
	}
}

// A resource without the watch verb is polled, if that is allowed: handlers are
// told what differs between two lists. Once it can be watched, it is.
func TestPollingBehindTheSameInformer(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		create(t, server, "default", "b")
		meets(server, fault.Stream, fault.Refuse(fault.StatusFor(http.StatusMethodNotAllowed), 0))
		f, pods := podInformer(t, server, queue, informer.WithPolling(time.Minute))
		h := newRecorder(t, "handler")
		addHandler(t, pods, h)
		start(t, f)
		h.wants("ADDED default/a list", "ADDED default/b list")

		setPhase(t, server, "default", "a", "Running")
		setPhase(t, server, "default", "a", "Failed")
		remove(t, server, "default", "b")
		create(t, server, "default", "c")
		synctest.Wait()
		h.wants()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		told := h.lines()
		slices.Sort(told) // the DeltaFIFO puts deletions last
		wantLines(t, "after the poll", told, []string{"ADDED default/c relist", "DELETED default/b relist", "UPDATED default/a relist"})
		if st := pods.Status(); st.Phase != reflector.Polling || st.LastError != nil || !st.Synced || st.Relists[reflector.RelistPoll] == 0 {
			t.Errorf("polling: %+v", st.Status)
		}
		h.checkCurrent(server, pods)

		time.Sleep(5 * time.Minute)
		synctest.Wait()
		h.wants() // nothing has changed
		server.SetFault(nil)
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		remove(t, server, "default", "a")
		synctest.Wait()
		h.wants("DELETED default/a watch")
		h.checkCurrent(server, pods)
	})
}

var gadgetsGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}

// A custom resource's definition goes, and returns: the informer waits, keeps
// what it has not heard the end of, and goes on without a restart.
func TestF10_DefinitionGoesAndReturns(t *testing.T) {
	tests := []struct {
		why   string
		heard bool // the deletions that come before the definition's end
		gone  []string
		back  []string
	}{
		{"the watch has told of the deletions", true,
			[]string{"DELETED default/a watch", "DELETED default/b watch"}, []string{"ADDED default/a relist"}},
		{"it broke before: only the return shows what went, and what is another by the same name", false,
			nil, []string{"DELETED default/a relist", "ADDED default/a relist", "DELETED default/b relist"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
				server := apisim.New(apisim.WithResource(apisim.CustomResource(gadgetsGVR, "Gadget", true)))
				define := func(name string) {
					t.Helper()
					_, err := server.Create(gadgetsGVR, &metav1.PartialObjectMetadata{
						TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Gadget"},
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				define("a")
				define("b")
				f, _ := podInformer(t, server, queue)
				gadgets, err := informer.ForResource[*metav1.PartialObjectMetadata](f, gadgetsGVR)
				if err != nil {
					t.Fatal(err)
				}
				var told []string
				if _, err := gadgets.AddEventHandler(informer.HandlerFunc[*metav1.PartialObjectMetadata](func(e informer.Event[*metav1.PartialObjectMetadata]) {
					told = append(told, e.Type.String()+" "+e.Key.String()+" "+e.Source.String())
				})); err != nil {
					t.Fatal(err)
				}
				start(t, f)
				told = nil

				notFound := fault.Respond(http.StatusNotFound, "text/plain", "404 page not found")
				if !tt.heard {
					meets(server, fault.Any, notFound)
					server.CloseWatches()
					synctest.Wait()
				}
				for _, name := range []string{"a", "b"} {
					if _, err := server.Delete(gadgetsGVR, "default", name); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				meets(server, fault.Any, notFound)
				server.CloseWatches()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				st := gadgets.Status()
				if !apierrors.IsNotFound(st.LastError) || !strings.Contains(st.LastError.Error(), "gadgets in example.com/v1") || !st.Synced || st.Attempts < 10 {
					t.Errorf("while it is away: %+v", st.Status)
				}
				wantLines(t, "while it is away", told, tt.gone)
				told = nil

				define("a")
				server.Compact() // its history has gone with it
				server.SetFault(nil)
				time.Sleep(time.Minute) // a watch that is refused, and a list
				synctest.Wait()
				wantLines(t, "when it is back", told, tt.back)
				if st := gadgets.Status(); st.Phase != reflector.Watching || st.LastError != nil || st.Objects != 1 {
					t.Errorf("when it is back: %+v", st.Status)
				}
			})
		})
	}
}
