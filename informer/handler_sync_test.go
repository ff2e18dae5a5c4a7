package informer_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// A handler that ends before it has synced says so to whoever waits, at once
// and with the reason. In client-go such a waiter waits for ever.
func TestH2_WaitForSyncEndsWithTheHandler(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(f *informer.Factory, pods *informer.Informer[pod], r *informer.Registration[pod])
		want error
	}{
		{"removed", func(_ *informer.Factory, pods *informer.Informer[pod], r *informer.Registration[pod]) {
			_ = pods.RemoveEventHandler(r)
		}, informer.ErrHandlerRemoved},
		{"stopped", func(f *informer.Factory, _ *informer.Informer[pod], _ *informer.Registration[pod]) {
			go f.Shutdown()
		}, informer.ErrStopped},
		{"out of time", nil, context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apisim.New()
				create(t, server, "ns", "a")
				f, pods := podInformer(t, server)
				start(t, f)
				hang := make(chan struct{})
				r := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { <-hang }), informer.WithName("hangs"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				if tt.end != nil {
					time.AfterFunc(time.Second, func() { tt.end(f, pods, r) })
				}
				err := r.WaitForSync(ctx)
				var not *informer.HandlerNotSyncedError
				if !errors.Is(err, tt.want) || !errors.As(err, &not) || not.Status.Name != "hangs" {
					t.Fatalf("WaitForSync: %v, want %v", err, tt.want)
				}
				if passed := time.Since(began); tt.end != nil && passed != time.Second {
					t.Errorf("it took %v, want the second after which the handler ended", passed)
				}
				if !strings.Contains(err.Error(), "the one about ns/a has been running for") {
					t.Errorf("the error doesn't say what the handler does: %v", err)
				}
				close(hang)
				synctest.Wait()
				// A call that returns later doesn't make it synced after all.
				if tt.end != nil && (r.HasSynced() || !errors.Is(r.Err(), tt.want)) {
					t.Errorf("synced %v, err %v", r.HasSynced(), r.Err())
				}
				if tt.end == nil && (r.WaitForSync(t.Context()) != nil || r.Err() != nil) {
					t.Errorf("still registered and told everything: %v, err %v", r.Status(), r.Err())
				}
			})
		})
	}
}

func TestWaitForSyncAfterGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "ns", "a")
		f, pods := podInformer(t, server)
		r := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { runtime.Goexit() }))
		start(t, f)
		if err := r.WaitForSync(t.Context()); !errors.Is(err, informer.ErrHandlerExited) {
			t.Errorf("WaitForSync: %v", err)
		}
	})
}

// HasSynced is about the handler's calls, not about the store: it turns true
// when the last initial call has returned, whatever the policy, and although
// changes go on.
func TestH2_SyncedAfterTheLastInitialCall(t *testing.T) {
	for _, policy := range []informer.Delivery{informer.Elastic, informer.Latest, informer.Block} {
		t.Run(policy.String(), func(t *testing.T) {
			onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
				server := apisim.New()
				for _, name := range []string{"a", "b", "c"} {
					create(t, server, "ns", name)
				}
				f, pods := podInformer(t, server, queue)
				var reg *informer.Registration[pod]
				initial, live := 0, 0
				reg = addHandler(t, pods, informer.HandlerFunc[pod](func(e event) {
					time.Sleep(time.Second)
					if e.Initial {
						initial++
					} else {
						live++
					}
					if reg.HasSynced() != (initial+live > 3) {
						t.Errorf("call %d: synced is %v", initial+live, reg.HasSynced())
					}
				}), informer.WithDelivery(policy))
				start(t, f)
				began := time.Now()
				go func() {
					for range 10 { // faster than the handler
						setPhase(t, server, "ns", "c", time.Now().String())
						time.Sleep(300 * time.Millisecond)
					}
				}()
				if err := reg.WaitForSync(t.Context()); err != nil {
					t.Fatal(err)
				}
				if passed := time.Since(began); passed != 3*time.Second {
					t.Errorf("synced after %v, want 3s: one for each initial call", passed)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if initial != 3 || live == 0 {
					t.Errorf("%d initial calls and %d others", initial, live)
				}
			})
		})
	}
}
