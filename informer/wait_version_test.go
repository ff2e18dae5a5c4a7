package informer_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

// A write's own version is waited for, then read: on both queues, at once if it
// was applied before, and for many waiters without a goroutine of the informer's.
func TestWaitForResourceVersion(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		start(t, f)
		before := bubbled(t)

		const waiters = 1000
		now, _ := strconv.Atoi(server.ResourceVersion())
		reached := make([]string, waiters)
		for n := range waiters {
			go func() {
				// Versions from the present one to 9 ahead, out of order.
				rv := strconv.Itoa(now + n*7%10)
				if err := pods.WaitForResourceVersion(t.Context(), rv); err != nil {
					t.Error(err)
				}
				if !object.Newer(rv, pods.LastSyncResourceVersion()) {
					reached[n] = rv
				}
			}()
		}
		synctest.Wait()
		if got := bubbled(t) - before; got != waiters*9/10 { // a tenth waited for the present one
			t.Errorf("%d goroutines more; want none beside those of the %d who wait", got, waiters)
		}
		for range 9 {
			changed := setPhase(t, server, "default", "a", time.Now().String())
			got, err := pods.GetAtLeast(t.Context(), object.Key{Namespace: "default", Name: "a"}, changed.ResourceVersion)
			if err != nil || got.ResourceVersion != changed.ResourceVersion {
				t.Errorf("wrote %s, read %v, %v", changed.ResourceVersion, got, err)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		for n, rv := range reached {
			if rv == "" {
				t.Fatalf("waiter %d returned before its version was applied, or not at all", n)
			}
		}
		if got := bubbled(t) - before; got != 0 {
			t.Errorf("%d goroutines are left", got)
		}
	})
}

// An informer of one namespace hears of a write to another only by a bookmark.
func TestWaitForResourceVersion_MovedByBookmark(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "mine", "a")
		f, pods := podInformer(t, server, queue, informer.WithNamespace("mine"))
		start(t, f)
		began := time.Now()
		other := create(t, server, "other", "b")

		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := pods.WaitForResourceVersion(soon, other.ResourceVersion)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no event comes of the write, and no bookmark yet: %v, want the deadline", err)
		}
		if err := pods.WaitForResourceVersion(t.Context(), other.ResourceVersion); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited > 61*time.Second {
			t.Errorf("waited %v, want at most a bookmark's minute", waited)
		}
		_, err = pods.GetAtLeast(t.Context(), object.Key{Namespace: "other", Name: "b"}, other.ResourceVersion)
		if !apierrors.IsNotFound(err) {
			t.Errorf("an object outside of what is watched: %v, want NotFound", err)
		}
	})
}

func TestWaitForResourceVersion_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server)

		for _, rv := range []string{"", "0", "007", "abc"} {
			var versionErr *object.VersionError
			if err := pods.WaitForResourceVersion(t.Context(), rv); !errors.As(err, &versionErr) {
				t.Errorf("%q before the list: %v, want a *object.VersionError", rv, err)
			}
		}
		early := make(chan error, 1)
		go func() { early <- pods.WaitForResourceVersion(t.Context(), server.ResourceVersion()) }()
		synctest.Wait()
		start(t, f)
		if err := <-early; err != nil {
			t.Errorf("asked before Run, for what the first list brought: %v", err)
		}

		for _, rv := range []string{"", "0", "007", "abc"} {
			var versionErr *object.VersionError
			if err := pods.WaitForResourceVersion(t.Context(), rv); !errors.As(err, &versionErr) {
				t.Errorf("%q: %v, want a *object.VersionError", rv, err)
			}
		}
		if err := pods.WaitForResourceVersion(canceled(t.Context()), server.ResourceVersion()); err != nil {
			t.Errorf("what was reached needs no wait, and so no context: %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("had enough")
		cancel(why)
		err := pods.WaitForResourceVersion(ctx, "999999")
		var waitErr *informer.VersionWaitError
		if !errors.Is(err, why) || !errors.As(err, &waitErr) || waitErr.Want != "999999" || waitErr.Have != server.ResourceVersion() {
			t.Errorf("canceled: %v, want the cause and both versions", err)
		}
		if want := "the store is at " + server.ResourceVersion(); !strings.Contains(err.Error(), want) {
			t.Errorf("error %q doesn't say that %s", err, want)
		}

		// Also from within a handler, which Run waits for when it ends.
		late := make(chan error, 2)
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) {
			late <- pods.WaitForResourceVersion(context.Background(), "999999")
		}))
		go func() { late <- pods.WaitForResourceVersion(context.Background(), "999999") }()
		synctest.Wait()
		f.Shutdown()
		for range 2 {
			if err := <-late; !errors.Is(err, informer.ErrStopped) {
				t.Errorf("Run ended: %v, want ErrStopped", err)
			}
		}
		if err := pods.WaitForResourceVersion(t.Context(), "999999"); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("after Run: %v, want ErrStopped", err)
		}
		if err := pods.WaitForResourceVersion(t.Context(), server.ResourceVersion()); err != nil {
			t.Errorf("after Run, what was reached: %v", err)
		}
	})
}

// An own deletion or a relist moves the store as well.
func TestWaitForResourceVersion_MovedByDeleteAndRelist(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		create(t, server, "default", "a")
		f, pods := podInformer(t, server, queue)
		start(t, f)
		remove(t, server, "default", "a")
		if _, err := pods.GetAtLeast(t.Context(), object.Key{Namespace: "default", Name: "a"}, server.ResourceVersion()); !apierrors.IsNotFound(err) {
			t.Errorf("deleted by then: %v, want NotFound", err)
		}

		server.CloseWatches()
		made := create(t, server, "default", "b")
		server.Compact() // the watch can't go on; what was missed comes with a list
		got, err := pods.GetAtLeast(t.Context(), object.Key{Namespace: "default", Name: "b"}, made.ResourceVersion)
		if err != nil || got.ResourceVersion != made.ResourceVersion {
			t.Errorf("after a new list: %v, %v", got, err)
		}
	})
}
