package informer

import (
	"errors"
	"testing"

	"informer.example/object"
)

// A commit wakes those whose version it reached, lowest first, and touches no
// other; what can't be ordered any more wakes all, with the reason.
func TestVersionWaiters(t *testing.T) {
	var line versionWaiters
	calls := 0
	at := func(have string) func(string) (bool, error) {
		return func(rv string) (bool, error) {
			calls++
			c, err := object.CompareVersions(have, rv)
			return c >= 0 && err == nil, err
		}
	}
	line.applied(at("5"))
	if calls != 0 {
		t.Errorf("nobody waits, and %d comparisons were made", calls)
	}
	var all []*versionWaiter
	for _, rv := range []string{"30", "7", "100", "9", "9", "18446744073709551616"} {
		all = append(all, line.add(rv))
	}
	woken := func() (n int) {
		for _, w := range all {
			select {
			case <-w.woken:
				n++
			default:
			}
		}
		return n
	}
	for _, tt := range []struct {
		have        string
		woken, asks int
	}{{"6", 0, 1}, {"9", 3, 4}, {"9", 3, 1}, {"99", 4, 2}} {
		calls = 0
		line.applied(at(tt.have))
		if woken() != tt.woken || calls != tt.asks {
			t.Errorf("at %s %d are awake after %d comparisons, want %d after %d", tt.have, woken(), calls, tt.woken, tt.asks)
		}
	}
	line.remove(all[2])
	line.remove(all[2]) // no longer in line
	line.applied(at("not a number"))
	last := all[len(all)-1]
	var versionErr *object.VersionError
	if woken() != len(all)-1 || !errors.As(last.err, &versionErr) {
		t.Errorf("%d are awake, error %v; want all who still stood in line, and a *object.VersionError", woken(), last.err)
	}
	if len(line.line) != 0 || line.waiting.Load() != 0 {
		t.Errorf("%d in line, %d counted; want none", len(line.line), line.waiting.Load())
	}
	if w := line.add("abc"); w.at != -1 || line.waiting.Load() != 0 {
		t.Error("a version without an order has no place in line")
	}
	if n := testing.AllocsPerRun(100, func() { line.applied(nil) }); n != 0 {
		t.Errorf("a commit that nobody waits for costs %v allocations", n)
	}
}
