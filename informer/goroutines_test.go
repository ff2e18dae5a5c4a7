package informer_test

import (
	"bytes"
	"runtime"
	"testing"
	"testing/synctest"
)

// bubbled counts the goroutines of the caller's synctest bubble, once all of
// them wait. runtime.NumGoroutine counts the process's: one that runs a
// finalizer, or that belongs to an earlier test and is just ending, is in it or
// not as it happens, and a test that compares two such counts fails now and then.
func bubbled(t *testing.T) int {
	t.Helper()
	synctest.Wait()
	dump := make([]byte, 1<<20)
	for n := runtime.Stack(dump, true); ; n = runtime.Stack(dump, true) {
		if n < len(dump) {
			dump = dump[:n]
			break
		}
		dump = make([]byte, 2*len(dump))
	}
	// The caller comes first: "goroutine 8 [running, synctest bubble 1]:".
	first, _, _ := bytes.Cut(dump, []byte("\n"))
	_, mark, found := bytes.Cut(first, []byte("synctest bubble "))
	if !found {
		t.Fatalf("not called in a bubble, or stacks name them otherwise now: %s", first)
	}
	mark = append([]byte("synctest bubble "), mark...) // with its "]:", so that 1 is not 10
	return bytes.Count(dump, mark)
}

// The count is of this bubble's goroutines: one more shows, one outside does not.
func TestBubbledCountsTheBubbleOnly(t *testing.T) {
	outside := make(chan struct{})
	defer close(outside)
	go func() { <-outside }()
	synctest.Test(t, func(t *testing.T) {
		before := bubbled(t)
		end := make(chan struct{})
		go func() { <-end }()
		if got := bubbled(t); got != before+1 {
			t.Errorf("%d with one more goroutine, %d before", got, before)
		}
		close(end)
		if got := bubbled(t); got != before {
			t.Errorf("%d after it ended, %d before", got, before)
		}
	})
}
