package informer_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// A lease takes its own handlers with it and leaves those of the others. The
// last one ends the informer, and the next request begins with a new list.
func TestH12_Leases(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "ns", "a")
		before := bubbled(t)
		f := quietFactory(server, queue)
		one, two := request(t, f), request(t, f)
		if one == two {
			t.Error("two requests got one lease: either could give back the other's")
		}
		first, second := newRecorder(t, "first"), newRecorder(t, "second")
		r := addHandler(t, one, first)
		addHandler(t, two, second)
		start(t, f)
		first.wants("ADDED ns/a list")
		second.wants("ADDED ns/a list")
		lists := func() int64 { return server.Stats().Count("list", "pods") + server.Stats().Count("watchlist", "pods") }
		if n := lists(); n != 1 || len(f.Informers()) != 1 {
			t.Errorf("%d lists and %d informers for two leases", n, len(f.Informers()))
		}

		if err := one.Release(); err != nil {
			t.Fatal(err)
		}
		if err := r.Err(); !errors.Is(err, informer.ErrReleased) {
			t.Errorf("the handler ended because of %v", err)
		}
		create(t, server, "ns", "b")
		synctest.Wait()
		first.wants()
		second.wants("ADDED ns/b watch")
		if n := len(two.Status().Handlers); n != 1 || two.Err() != nil {
			t.Errorf("%d handlers, ended by %v", n, two.Err())
		}

		if err := two.Release(); err != nil {
			t.Fatal(err)
		}
		if n := len(f.Informers()); n != 0 {
			t.Errorf("%d informers are left", n)
		}
		<-two.Done()
		if err := two.Err(); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("it ended by %v", err)
		}
		if n := bubbled(t); n != before {
			t.Errorf("%d goroutines, %d before", n, before)
		}
		if n := server.Stats().Watches; n != 0 {
			t.Errorf("%d watches are open", n)
		}

		remove(t, server, "ns", "a")
		again, third := request(t, f), newRecorder(t, "third")
		addHandler(t, again, third)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		third.wants("ADDED ns/b list")
		if n := lists(); n != 2 {
			t.Errorf("%d lists, want a second one", n)
		}
	})
}

// What can't be done says so, by an error of its own.
func TestLeaseErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f := quietFactory(server)
		kept, released := request(t, f), request(t, f)
		start(t, f)
		r := addHandler(t, released, newRecorder(t, "h"))
		if err := kept.RemoveEventHandler(r); !errors.Is(err, informer.ErrNotRegistered) {
			t.Errorf("removing the handler of another lease: %v", err)
		}
		if err := released.Release(); err != nil {
			t.Fatal(err)
		}
		own := ownPods(t, server)
		ownEnded := ownPods(t, server)
		if err := ownEnded.Run(canceled(t.Context())); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		running := make(chan error)
		ownRuns := ownPods(t, server)
		go func() { running <- ownRuns.Run(ctx) }()
		synctest.Wait()
		var notSynced *informer.NotSyncedError
		var notReached *informer.VersionWaitError
		handler := informer.HandlerFuncs[pod]{}
		for _, tt := range []struct {
			what string
			got  error
			want error
			as   any
		}{
			{"Release again", released.Release(), informer.ErrReleased, nil},
			{"AddEventHandler", second(released.AddEventHandler(handler)), informer.ErrReleased, nil},
			{"RemoveEventHandler", released.RemoveEventHandler(r), informer.ErrNotRegistered, nil},
			{"WaitForSync", released.WaitForSync(t.Context()), informer.ErrReleased, &notSynced},
			{"WaitForResourceVersion", released.WaitForResourceVersion(t.Context(), "1"), informer.ErrReleased, &notReached},
			{"Run of a factory's", kept.Run(t.Context()), informer.ErrFactoryRuns, nil},
			{"Run of a factory's as the factory shows it", f.Informers()[0].(*informer.Informer[pod]).Run(t.Context()), informer.ErrFactoryRuns, nil},
			{"Release of what the factory shows", f.Informers()[0].(*informer.Informer[pod]).Release(), informer.ErrNotLeased, nil},
			{"Release of one's own", own.Release(), informer.ErrNotLeased, nil},
			{"Run twice", ownRuns.Run(ctx), informer.ErrAlreadyRun, nil},
			{"Run after it has returned", ownEnded.Run(ctx), informer.ErrAlreadyRun, nil},
			{"Run after it has returned, also", ownEnded.Run(ctx), informer.ErrStopped, nil},
			{"AddEventHandler after Run", second(ownEnded.AddEventHandler(handler)), informer.ErrStopped, nil},
		} {
			if !errors.Is(tt.got, tt.want) || tt.as != nil && !errors.As(tt.got, tt.as) {
				t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
			}
		}
		if errors.Is(ownRuns.Run(ctx), informer.ErrStopped) {
			t.Error("Run while it runs: ErrStopped")
		}
		for range released.Events(t.Context()) {
			t.Error("a released informer yielded an event")
		}
		if kept.Err() != nil || kept.WaitForSync(t.Context()) != nil {
			t.Error("the other lease suffers")
		}
		cancel()
		if err := <-running; err != nil {
			t.Error(err)
		}
	})
}

func second[A any](_ A, err error) error { return err }

// A handler may release what it is a handler of, the last lease too: its call
// goes on, and no other one comes.
func TestH12_ReleaseFromAHandler(t *testing.T) {
	for _, others := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			server := apisim.New()
			create(t, server, "ns", "a")
			create(t, server, "ns", "b")
			f := quietFactory(server)
			pods := request(t, f)
			for range others {
				request(t, f)
			}
			calls := 0
			proceed := make(chan struct{})
			r := addHandler(t, pods, informer.HandlerFunc[pod](func(event) {
				calls++
				if err := pods.Release(); err != nil {
					t.Error(err)
				}
				<-proceed
			}))
			f.Start(t.Context())
			synctest.Wait()
			select {
			case <-pods.Done():
				t.Error("the informer has ended, and the call goes on")
			case <-r.Done():
				t.Error("the handler has ended, and its call goes on")
			default:
			}
			close(proceed)
			<-r.Done()
			if others == 0 {
				<-pods.Done()
			}
			synctest.Wait()
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
			f.Shutdown()
		})
	}
}

// Whoever waits through a lease hears of its end at once, and whoever waits for
// the factory isn't told of what nobody wants any more.
func TestH12_ReleaseWhileWaiting(t *testing.T) {
	for _, others := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			server := apisim.New()
			server.SetFault(func(*http.Request) apisim.Fault { return apisim.Hang() })
			f := quietFactory(server)
			pods := request(t, f)
			var rest []*informer.Informer[pod]
			for range others {
				rest = append(rest, request(t, f))
			}
			r := addHandler(t, pods, newRecorder(t, "h"))
			f.Start(t.Context())
			ended := make(chan error, 3)
			go func() { ended <- pods.WaitForSync(t.Context()) }()
			go func() { ended <- r.WaitForSync(t.Context()) }()
			go func() { ended <- pods.WaitForResourceVersion(t.Context(), "7") }()
			events := make(chan struct{})
			go func() {
				defer close(events)
				for range pods.Events(t.Context()) {
					t.Error("an event")
				}
			}()
			whole := make(chan error, 1)
			go func() { whole <- f.WaitForCacheSync(t.Context()) }()
			time.Sleep(time.Second)
			began := time.Now()
			if err := pods.Release(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := <-ended; !errors.Is(err, informer.ErrReleased) {
					t.Errorf("a waiter was told %v", err)
				}
			}
			<-events
			for _, other := range rest {
				synctest.Wait()
				select {
				case err := <-whole:
					t.Fatalf("the factory waits for what is released by some: %v", err)
				default:
				}
				if err := other.Release(); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-whole; err != nil {
				t.Errorf("WaitForCacheSync: %v; nobody wants it any more", err)
			}
			if d := time.Since(began); d != 0 {
				t.Errorf("it took %v", d)
			}
			f.Shutdown()
		})
	}
}

// A request may be made before Start, after it, and after the informer has
// ended; what never ran ends too.
func TestRequestsAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "ns", "a")
		f := quietFactory(server)
		unstarted := request(t, f)
		waiting := make(chan error, 1)
		go func() { waiting <- unstarted.WaitForSync(t.Context()) }()
		r := addHandler(t, unstarted, newRecorder(t, "h"))
		synctest.Wait()
		f2 := quietFactory(server)
		lost := request(t, f2)
		f2.Shutdown() // what never ran ends as well
		<-lost.Done()

		// A lease that comes back before Start.
		second := request(t, f, informer.WithNamespace("ns"))
		if err := second.Release(); err != nil {
			t.Fatal(err)
		}
		<-second.Done()
		if n := server.Stats().Count("", ""); n != 0 {
			t.Errorf("%d requests for informers that never ran", n)
		}

		waits := make(chan error, 1)
		go func() { waits <- f.WaitForCacheSync(t.Context()) }()
		synctest.Wait()
		if len(waits) > 0 {
			t.Errorf("before Start: %v; it has synced nothing", <-waits)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f.Start(ctx)
		for _, err := range []error{<-waits, <-waiting, r.WaitForSync(t.Context())} {
			if err != nil {
				t.Error(err)
			}
		}
		late := request(t, f, informer.WithNamespace("ns")) // no other Start
		if err := late.WaitForSync(t.Context()); err != nil {
			t.Error(err)
		}

		cancel()
		<-late.Done()
		next := request(t, f, informer.WithNamespace("ns"))
		if _, err := next.AddEventHandler(newRecorder(t, "next")); err != nil {
			t.Errorf("after an end: %v; want an informer that has not ended", err)
		}
		synctest.Wait()
		if st := next.Status(); st.Attempts != 0 || st.Synced {
			t.Errorf("it runs, and the context of Start is over: %+v", st)
		}
		if err := late.Release(); err != nil { // of the one that is replaced
			t.Error(err)
		}
		if got := f.Informers(); len(got) != 2 {
			t.Errorf("%d informers, want the new one and the one that has ended and is held", len(got))
		}
		f.Start(t.Context())
		if err := next.WaitForSync(t.Context()); err != nil {
			t.Error(err)
		}
		f.Shutdown()
		f.Start(t.Context())
		if err := f.WaitForCacheSync(t.Context()); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("after Shutdown: %v", err)
		}
		if err := next.Release(); err != nil {
			t.Errorf("Release after Shutdown: %v", err)
		}
	})
}

// An informer that was refused is tried anew when it is asked for anew.
func TestRequestAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		server.SetFault(func(*http.Request) apisim.Fault {
			return apisim.Refuse(metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden}, 0)
		})
		f := quietFactory(server, informer.WithReflector(reflector.Options{FailFast: true}))
		defer f.Shutdown()
		f.Start(t.Context())
		refused := request(t, f)
		<-refused.Done()
		if err := refused.Err(); !apierrors.IsForbidden(err) {
			t.Errorf("it ended by %v", err)
		}
		if err := f.WaitForCacheSync(t.Context()); !apierrors.IsForbidden(err) {
			t.Errorf("the factory's error: %v", err)
		}
		server.SetFault(nil)
		anew := request(t, f)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("the factory's error: %v", err)
		}
		if err := refused.Release(); err != nil {
			t.Error(err)
		}
		if err := anew.WaitForSync(t.Context()); err != nil || anew.Err() != nil {
			t.Errorf("releasing the one that failed ends the new one: %v, %v", err, anew.Err())
		}
	})
}
