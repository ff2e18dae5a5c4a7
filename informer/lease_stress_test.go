package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// Leases are given back while events fly. Those that stay miss nothing, and of
// those that go at most the running call goes on.
func TestH12_ReleaseUnderLoad(t *testing.T) {
	onBothQueues(t, func(t *testing.T, queue informer.FactoryOption) {
		server := apisim.New()
		if err := server.Fill(20); err != nil {
			t.Fatal(err)
		}
		f := quietFactory(server, queue)
		f.Start(t.Context())
		var writing sync.WaitGroup
		writing.Go(func() {
			if err := server.Churn(t.Context(), apisim.ChurnOptions{Rate: 1e5, Writes: 500, Next: 20}); err != nil {
				t.Error(err)
			}
		})
		policies := []informer.Delivery{informer.Elastic, informer.Latest, informer.Block}
		var stay []*recorder
		var leases []*informer.Informer[pod]
		for n := range 12 {
			pods := request(t, f)
			leases = append(leases, pods)
			if n%2 == 0 {
				stay = append(stay, newRecorder(t, fmt.Sprint("stays ", n)))
				addHandler(t, pods, stay[n/2])
				continue
			}
			writing.Go(func() {
				var begun, atRelease atomic.Int64
				released := make(chan struct{})
				r := addHandler(t, pods, informer.HandlerFunc[pod](func(event) {
					if begun.Add(1) == int64(20*n) {
						close(released)
					}
				}), informer.WithDelivery(policies[n/2%3]), informer.WithHandlerMaxLag(16))
				<-released
				if err := pods.Release(); err != nil {
					t.Error(err)
				}
				atRelease.Store(begun.Load())
				<-r.Done()
				if more := begun.Load() - atRelease.Load(); more > 1 {
					t.Errorf("%d calls began after Release", more)
				}
				if err := r.Err(); !errors.Is(err, informer.ErrReleased) {
					t.Errorf("the handler ended by %v", err)
				}
			})
		}
		writing.Wait()
		synctest.Wait()
		for _, r := range stay {
			r.checkCurrent(server, leases[0])
		}
		if n := len(leases[0].Status().Handlers); n != len(stay) {
			t.Errorf("%d handlers, want %d", n, len(stay))
		}
		f.Shutdown()
	})
}

// Many ask, use and give back, while the factory is shut down by two at once.
// Nobody hangs, everybody is told why it ended, and nothing is left.
func TestH12_ManyOwners(t *testing.T) {
	const owners = 8
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) {
			server := apisim.New()
			if err := server.Fill(5); err != nil {
				t.Fatal(err)
			}
			before := bubbled(t)
			f := quietFactory(server)
			f.Start(t.Context())
			churn, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = server.Churn(churn, apisim.ChurnOptions{Rate: 1e4, Next: 5, Seed: seed}) })
			var used atomic.Int64
			for n := range owners {
				all.Go(func() {
					random := rand.New(rand.NewPCG(seed, uint64(n)))
					for useLease(t, f, random) {
						used.Add(1)
						time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
					}
				})
			}
			time.Sleep(30 * time.Millisecond)
			if n := len(f.Informers()); n > 3 {
				t.Errorf("%d informers of three kinds", n)
			}
			var ending sync.WaitGroup
			for range 2 {
				ending.Go(f.Shutdown)
			}
			ending.Wait()
			stop()
			all.Wait()
			if n := bubbled(t); n != before || server.Stats().Watches != 0 {
				t.Errorf("%d goroutines, %d before; %d watches are open", n, before, server.Stats().Watches)
			}
			if used.Load() < owners {
				t.Errorf("only %d leases were used", used.Load())
			}
		})
	}
}

// useLease asks for an informer of three, uses it in a random way and gives it
// back; false when the factory is shut down.
func useLease(t *testing.T, f *informer.Factory, random *rand.Rand) bool {
	pods, err := informer.For[pod](f, informer.WithNamespace([]string{"", "default", "none"}[random.IntN(3)]))
	if err != nil {
		if !errors.Is(err, informer.ErrStopped) {
			t.Error(err)
		}
		return false
	}
	ended := func(err error) bool {
		return errors.Is(err, informer.ErrStopped) || errors.Is(err, informer.ErrReleased)
	}
	r, err := pods.AddEventHandler(newRecorder(t, "h"))
	if err != nil && !errors.Is(err, informer.ErrStopped) {
		t.Error(err)
	}
	var others sync.WaitGroup
	switch random.IntN(4) {
	case 0:
		if err := pods.WaitForSync(t.Context()); err != nil && !ended(err) {
			t.Error(err)
		}
	case 1:
		others.Go(func() {
			for range pods.Events(t.Context()) {
			}
		})
	case 2:
		others.Go(func() {
			if err := pods.WaitForResourceVersion(t.Context(), "1000000"); !ended(err) {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond)
	}
	first := pods.Release()
	if first != nil || !errors.Is(pods.Release(), informer.ErrReleased) {
		t.Errorf("Release: %v, then not ErrReleased", first)
	}
	others.Wait()
	if r != nil {
		<-r.Done()
		if !ended(r.Err()) {
			t.Errorf("the handler ended by %v", r.Err())
		}
	}
	return true
}

// Shutdown waits for the calls of handlers, those of informers that are
// released already too, and so does each further call of it.
func TestH12_ShutdownWaitsForWhatWasReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		create(t, server, "ns", "a")
		f := quietFactory(server)
		pods := request(t, f)
		proceed := make(chan struct{})
		addHandler(t, pods, informer.HandlerFunc[pod](func(event) { <-proceed }))
		f.Start(t.Context())
		synctest.Wait()
		if err := pods.Release(); err != nil {
			t.Fatal(err)
		}
		request(t, f) // another one of the same key, while the first is ending
		over := make(chan struct{}, 2)
		for range 2 {
			go func() { f.Shutdown(); over <- struct{}{} }()
		}
		synctest.Wait()
		if n := len(over); n != 0 {
			t.Errorf("%d calls of Shutdown returned while a handler's call runs", n)
		}
		close(proceed)
		<-over
		<-over
		f.Shutdown()
	})
}
