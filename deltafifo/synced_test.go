package deltafifo

import (
	"context"
	"errors"
	"testing"
)

func TestSynced(t *testing.T) {
	tests := []struct {
		name, store, script  string
		inOrder, fifo        bool // right after the script
		inOrderPop, fifoPops int  // how many more pops until synced
		why                  string
	}{
		{"nothing", "", "", false, false, -1, -1, "nobody knows the state yet"},
		{"bookmark", "", "@1", false, false, -1, -1, "it tells of no state"},
		{"resync", "a1", "??", false, false, -1, -1, "nor does a resync"},
		{"add first", "", "+a1", true, true, 0, 0, "without a list there is no initial state to wait for"},
		{"delete of the unknown first", "", "-a1", true, true, 0, 0, "the same, although a DeltaFIFO drops it"},
		{"add, then a list", "", "+a1 {a1 b1 @2}", true, true, 0, 0, "the first write decides"},
		{"list", "", "{a1 b1 c1 @2}", false, false, 1, 3, "the list is one delta, or one key each"},
		{"list with a doublet", "", "{a1 b1 a2 @2}", false, false, 1, 2, "a key counts once"},
		{"empty list", "", "{@2}", false, true, 1, 0, "a DeltaFIFO has nothing to process"},
		{"list and tombstones", "x1 y1", "{a1 @2}", false, false, 1, 3, "tombstones are of the initial state too"},
		{"list, then more", "", "{a1 b1 @2} +c3 ~a4", false, false, 1, 2, "what comes later doesn't count"},
		{"two lists", "", "{a1 b1 @2} {a3 b3 c3 @3}", false, false, 1, 2, "the first list is enough"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			check := func(q Queue[obj], now bool, pops int, pop func()) {
				t.Helper()
				run(t, q, tc.script)
				if q.HasSynced() != now {
					t.Fatalf("%T: synced %v after the script, want %v: %s", q, q.HasSynced(), now, tc.why)
				}
				for n := 1; n <= pops; n++ {
					if q.HasSynced() {
						t.Fatalf("%T: synced before pop %d of %d: %s", q, n, pops, tc.why)
					}
					pop()
					checkInvariants(t, q)
				}
				if want := pops >= 0; q.HasSynced() != want || isClosed(q.Synced()) != want {
					t.Errorf("%T: synced %v after %d pops, want %v: %s", q, q.HasSynced(), pops, want, tc.why)
				}
			}
			q := NewInOrder(Options[obj]{})
			check(q, tc.inOrder, tc.inOrderPop, func() {
				must(t, q.PopBatch(t.Context(), func([]Delta[obj]) error {
					if q.HasSynced() {
						t.Error("Q5: synced before process has returned")
					}
					return nil
				}))
			})
			f := NewDeltaFIFO(Options[obj]{KnownObjects: storeOf(tc.store)})
			check(f, tc.fifo, tc.fifoPops, func() {
				must(t, f.Pop(t.Context(), func(_ Deltas[obj], initial bool) error {
					if f.HasSynced() {
						t.Error("Q5: synced before process has returned")
					}
					if !initial {
						t.Error("an object of the initial list isn't flagged")
					}
					return nil
				}))
			})
		})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestInitialFlag(t *testing.T) {
	both(t, Options[obj]{KnownObjects: storeOf("x1")}, func(t *testing.T, q Queue[obj]) {
		run(t, q, "{a1 b1 @2} +c3 ~a4 {a4 @5}")
		var initial []Delta[obj]
		pop := func(d []Delta[obj]) error {
			for _, d := range d {
				if d.Initial {
					initial = append(initial, d)
				}
			}
			return nil
		}
		must(t, q.PopBatch(t.Context(), pop))
		want := "[a1 b1 @2]"
		if _, ok := q.(*DeltaFIFO[obj]); ok {
			want = "=a1 =b1 !x1"
		}
		if got := text(initial); got != want {
			t.Errorf("flagged as initial: %s, want %s", got, want)
		}
	})
}

// The tombstone told of an object of the initial state. That a deletion with a
// known final state takes its place changes nothing about it.
func TestInitialTombstoneOvertaken(t *testing.T) {
	f := NewDeltaFIFO(Options[obj]{KnownObjects: storeOf("a1")})
	run(t, f, "{@2} -a3")
	must(t, f.PopBatch(t.Context(), func(d []Delta[obj]) error {
		if got := text(d); got != "-a3" || !d[0].Initial {
			t.Errorf("got %s, initial %v; want -a3, initial", got, d[0].Initial)
		}
		return nil
	}))
}

// When the initial state couldn't be applied, "synced" would be a lie.
func TestFailedInitialListIsNotSynced(t *testing.T) {
	bad := errors.New("can't apply")
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		run(t, q, "{a1 @1}")
		if err := q.PopBatch(t.Context(), func([]Delta[obj]) error { return bad }); err != bad {
			t.Fatalf("got %v, want process's own error", err)
		}
		checkInvariants(t, q)
		run(t, q, "+b2")
		popText(t, q)
		if q.HasSynced() {
			t.Fatal("Q5: synced, and a is missing")
		}
		run(t, q, "+c3 {a4 b4 c4 @4}")
		if q.HasSynced() {
			t.Fatal("Q5: synced before the second list was processed")
		}
		popText(t, q)
		if !q.HasSynced() {
			t.Fatal("Q5: not synced after the second list was processed")
		}
		// Once synced, a failure doesn't take it back.
		run(t, q, "{a5 @5}")
		_ = q.PopBatch(t.Context(), func([]Delta[obj]) error { return bad })
		if !q.HasSynced() {
			t.Error("a later failure took synced back")
		}
	})
}

func TestPanicInProcess(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		run(t, q, "{a1 @1}")
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic was swallowed")
				}
			}()
			_ = q.PopBatch(context.Background(), func([]Delta[obj]) error { panic("boom") })
		}()
		checkInvariants(t, q)
		if q.HasSynced() {
			t.Error("Q5: synced by a panic")
		}
		run(t, q, "{a2 @2}")
		popText(t, q) // the turn is free again
		if !q.HasSynced() {
			t.Error("not synced by the list after the panic")
		}
	})
}

// What was taken before the first Replace doesn't count for it, although it is
// done after.
func TestListWhileABatchIsProcessed(t *testing.T) {
	both(t, Options[obj]{KnownObjects: storeOf("x1")}, func(t *testing.T, q Queue[obj]) {
		run(t, q, "?? @1")
		must(t, q.PopBatch(t.Context(), func([]Delta[obj]) error { run(t, q, "{a2 @2}"); return nil }))
		if q.HasSynced() {
			t.Error("Q5: synced by a batch that was taken before the list")
		}
		popText(t, q)
		if !q.HasSynced() {
			t.Error("Q5: not synced by the batch with the list")
		}
	})
}
