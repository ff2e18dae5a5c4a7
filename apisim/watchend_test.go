package apisim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// W6, K24: a watch that does not read is ended once it is too far behind; what it
// got is a prefix without gaps, and the end is clean.
func TestK24_SlowWatchIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithWatchBuffer(50), WithHistory(1000))
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100")
		for i := range 100 { // one flush each: the transport is full after a few
			put(t, s, pod("a", "p", "i", fmt.Sprint(i)))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		events, end := w.rest(t)
		if end != time.Second {
			t.Errorf("ended after %v", end)
		}
		if n := len(events); n < memChunks || n > 50 {
			t.Errorf("got %d events", n)
		}
		for i, e := range events {
			if want := formatRV(uint64(101 + i)); e.object.ResourceVersion != want {
				t.Fatalf("event %d has RV %s, want %s", i, e.object.ResourceVersion, want)
			}
		}
	})
}

// W6: a client that pauses, but is not far behind, loses nothing.
func TestPauseIsNotSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithWatchBuffer(50))
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=10")
		for i := range 40 {
			put(t, s, pod("a", "p", "i", fmt.Sprint(i)))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if events, end := w.rest(t); len(events) != 40 || end != 10*time.Second {
			t.Errorf("got %d events, ended after %v", len(events), end)
		}
	})
}

// W6: a burst alone ends nothing, however long.
func TestBurstIsNotSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithWatchBuffer(50))
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=10")
		for i := range 2000 {
			put(t, s, pod("a", "p", "i", fmt.Sprint(i)))
		}
		if events, _ := w.rest(t); len(events) != 2000 {
			t.Errorf("got %d events", len(events))
		}
	})
}

// W6: falling out of the history ends a watch cleanly, too.
func TestWatchFallsOutOfHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithHistory(10))
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100")
		for i := range 100 {
			put(t, s, pod("a", "p", "i", fmt.Sprint(i)))
			synctest.Wait()
		}
		events, end := w.rest(t)
		if len(events) == 0 || len(events) > 20 || end != 0 {
			t.Errorf("got %d events, ended after %v", len(events), end)
		}
	})
}

// W5: CloseWatches ends all watches at once and cleanly, Compact only those
// that are behind.
func TestCloseWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		put(t, s, pod("a", "p"))
		idle := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=101")
		nodes := watch(t, s, "/api/v1/nodes?watch=1&resourceVersion=100")
		synctest.Wait()
		if n := s.Stats().Watches; n != 2 {
			t.Fatalf("%d watches open", n)
		}
		s.Compact()
		time.Sleep(time.Hour / 2)
		put(t, s, pod("a", "q"))
		time.Sleep(time.Second)
		s.CloseWatches()
		events, _ := idle.rest(t)
		if text(events) != "ADDED a/q@102" {
			t.Errorf("got %q", text(events))
		}
		if events, end := nodes.rest(t); len(events) != 0 || end != 30*time.Minute+time.Second {
			t.Errorf("nodes: %v after %v", events, end)
		}
		synctest.Wait()
		if n := s.Stats().Watches; n != 0 {
			t.Errorf("%d watches left", n)
		}
	})
}

// The handler's goroutine ends with its client, whatever it waits for. The
// bubble fails the test if one is left.
func TestHandlerEndsWithClient(t *testing.T) {
	for why, url := range map[string]string{
		"idle watch":       "/api/v1/pods?watch=1&resourceVersion=101",
		"blocked writer":   "/api/v1/pods?watch=1&resourceVersion=100",
		"waits for an RV":  "/api/v1/pods?" + watchListQuery + "&resourceVersion=5000",
		"list waits":       "/api/v1/pods?resourceVersion=5000",
		"initial state":    "/api/v1/pods?" + watchListQuery,
		"list not read":    "/api/v1/pods",
		"nothing to watch": "/api/v1/nodes?watch=1&resourceVersion=100",
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New()
				for i := range 300 {
					if _, err := s.Create(Pods().GVR, RealisticPod(i)); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				body, err := open(ctx, s, url)
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Fatal(err)
					}
					return
				}
				synctest.Wait()
				body.Close()
				synctest.Wait()
				if n := s.Stats().Watches; n != 0 {
					t.Errorf("%d watches left", n)
				}
				if _, err := body.Read(make([]byte, 1)); err == nil || err == io.EOF {
					t.Errorf("a closed body reads %v", err)
				}
			})
		})
	}
}
