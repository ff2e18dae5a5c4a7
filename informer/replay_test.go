package informer_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// A resync is spread over its period: each object once, a slice at a time.
func TestResyncIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for n := range 128 {
			create(t, server, "ns", fmt.Sprintf("pod-%03d", n))
		}
		f, pods := podInformer(t, server)
		start(t, f)
		h := newRecorder(t, "resync")
		addHandler(t, pods, h, informer.WithHandlerResync(64*time.Second))
		synctest.Wait()
		h.take()
		for period := range 2 {
			told := make(map[string]int)
			for second := range 64 {
				time.Sleep(time.Second)
				synctest.Wait()
				events := h.take()
				if len(events) != 2 {
					t.Errorf("period %d, second %d: %d calls, want 2", period, second, len(events))
				}
				for _, e := range events {
					told[e.Key.Name]++
				}
			}
			if len(told) != 128 {
				t.Errorf("period %d: %d objects told, want all 128 once", period, len(told))
			}
		}
	})
}

// A change waits for one replayed object at most. What a busy handler doesn't
// get to in a period is dropped, not made up for in a burst.
func TestResyncGoesBehindChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for n := range 640 {
			create(t, server, "ns", fmt.Sprintf("pod-%03d", n))
		}
		f, pods := podInformer(t, server)
		start(t, f)
		var mu sync.Mutex
		var sources []informer.Source
		h := addHandler(t, pods, informer.HandlerFunc[pod](func(e event) {
			if !e.Initial {
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				sources = append(sources, e.Source)
			}
		}), informer.WithHandlerResync(64*time.Second))
		synctest.Wait()
		time.Sleep(1500 * time.Millisecond) // in the first call of the first slice of ten
		setPhase(t, server, "ns", "pod-100", "Running")
		time.Sleep(1500*time.Millisecond + 1)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(sources) != 2 || sources[1] != informer.FromWatch {
			t.Errorf("told %v, want one replayed object and then the change", sources)
		}
		mu.Unlock()
		time.Sleep(10 * time.Minute)
		mu.Lock()
		synctest.Wait()
		// A second a call: at most 64 calls a period, where 640 are owed.
		s := h.Status()
		if s.ReplaysDropped < 9*500 || s.Delivered > 640+603 {
			t.Errorf("%d calls, %d dropped", s.Delivered, s.ReplaysDropped)
		}
	})
}
