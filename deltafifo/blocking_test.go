package deltafifo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs a test on each kind of queue, made inside a bubble, so that
// synctest sees a goroutine that waits on it as blocked.
func inBubble(t *testing.T, opts Options[obj], test func(t *testing.T, q Queue[obj])) {
	t.Run("InOrder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { q := NewInOrder(opts); test(t, q); checkInvariants(t, q) })
	})
	t.Run("DeltaFIFO", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { q := NewDeltaFIFO(opts); test(t, q); checkInvariants(t, q) })
	})
}

// start runs f in a goroutine; the channel has its error when it is done.
func start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// pendingStill fails the test if the call is over. It waits until every other
// goroutine of the bubble is blocked.
func pendingStill(t *testing.T, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Fatalf("the call didn't block: %v", err)
	default:
	}
}

// endedWith fails the test if the call isn't over, without time passing.
func endedWith(t *testing.T, done <-chan error, want error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		if !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
	default:
		t.Fatalf("the call still blocks, want %v", want)
	}
}

var (
	full = Options[obj]{MaxDepth: 2, KnownObjects: storeOf("a1 x1")}

	// writes are the verbs that need room in either queue.
	writes = map[string]func(context.Context, Queue[obj]) error{
		"Add":     func(ctx context.Context, q Queue[obj]) error { return q.Add(ctx, it("c", "3")) },
		"Update":  func(ctx context.Context, q Queue[obj]) error { return q.Update(ctx, it("a", "3")) },
		"Delete":  func(ctx context.Context, q Queue[obj]) error { return q.Delete(ctx, it("a", "3")) },
		"Replace": func(ctx context.Context, q Queue[obj]) error { return q.Replace(ctx, listOf("z3 @3")) },
		"Resync":  func(ctx context.Context, q Queue[obj]) error { return q.Resync(ctx) },
	}
)

func TestWritesWaitForRoom(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, full, func(t *testing.T, q Queue[obj]) {
				run(t, q, "+a1 +b2")
				done := start(func() error { return write(t.Context(), q) })
				pendingStill(t, done)
				checkInvariants(t, q)
				if q.Depth() != 2 {
					t.Fatalf("Q2: depth %d at the limit of 2", q.Depth())
				}
				// There is room as soon as the batch is taken: process can take its time.
				must(t, q.PopBatch(t.Context(), func(d []Delta[obj]) error {
					if got := text(d); got != "+a1 +b2" {
						t.Errorf("got %s, want +a1 +b2", got)
					}
					endedWith(t, done, nil)
					return nil
				}))
				if q.Depth() == 0 {
					t.Error("the write that waited is lost")
				}
			})
		})
	}
}

func TestBookmarkAtTheLimit(t *testing.T) {
	inBubble(t, full, func(t *testing.T, q Queue[obj]) {
		run(t, q, "+a1 +b2")
		done := start(func() error { return q.Bookmark(t.Context(), "3") })
		if _, ok := q.(*DeltaFIFO[obj]); ok {
			endedWith(t, done, nil) // it takes no room
			return
		}
		pendingStill(t, done)
		popText(t, q)
		endedWith(t, done, nil)
	})
}

func TestCancelEndsAWaitingWrite(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, full, func(t *testing.T, q Queue[obj]) {
				run(t, q, "+a1 +b2")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				err := write(ctx, q)
				if d := time.Since(begin); d != time.Minute {
					t.Errorf("it took %v, want 1m0s", d)
				}
				var fe *FullError
				if !errors.As(err, &fe) || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("got %v, want a *FullError with the context's error", err)
				}
				if fe.Depth != 2 || fe.MaxDepth != 2 {
					t.Errorf("got %+v, want depth 2 of 2", fe)
				}
				if got := popText(t, q); got != "+a1 +b2" {
					t.Errorf("Q3: the queue holds %s after a failed write, want +a1 +b2", got)
				}
			})
		})
	}
}

func TestCloseEndsAWaitingWrite(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, full, func(t *testing.T, q Queue[obj]) {
				run(t, q, "+a1 +b2")
				one := start(func() error { return write(t.Context(), q) })
				two := start(func() error { return write(t.Context(), q) })
				pendingStill(t, one)
				q.Close()
				endedWith(t, one, ErrClosed)
				endedWith(t, two, ErrClosed)
			})
		})
	}
}

func TestClosedQueue(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		ctx := context.Background()
		run(t, q, "+a1 @2")
		q.Close()
		q.Close()
		if err := q.Bookmark(ctx, "9"); err != ErrClosed {
			t.Errorf("Bookmark: got %v, want ErrClosed", err)
		}
		for name, write := range writes {
			if err := write(ctx, q); err != ErrClosed {
				t.Errorf("%s: got %v, want ErrClosed", name, err)
			}
		}
		if got := popText(t, q); got != "+a1 @2" {
			t.Errorf("Q3: got %s of what was queued before, want +a1 @2", got)
		}
		for range 2 {
			err := q.PopBatch(ctx, func([]Delta[obj]) error { t.Error("process called"); return nil })
			if err != ErrClosed {
				t.Errorf("PopBatch: got %v, want ErrClosed", err)
			}
		}
		if f, ok := q.(*DeltaFIFO[obj]); ok {
			if err := f.Pop(ctx, nil); err != ErrClosed {
				t.Errorf("Pop: got %v, want ErrClosed", err)
			}
		}
	})
}

func TestCanceledContext(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		run(t, q, "+a1")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for name, write := range writes {
			if err := write(ctx, q); err != context.Canceled {
				t.Errorf("%s: got %v, want context.Canceled", name, err)
			}
		}
		if err := q.Bookmark(ctx, "9"); err != context.Canceled {
			t.Errorf("Bookmark: got %v, want context.Canceled", err)
		}
		for range 100 { // a select that is free to choose would give it away
			if err := q.PopBatch(ctx, nil); err != context.Canceled {
				t.Fatalf("PopBatch: got %v, want context.Canceled", err)
			}
		}
		if got := popText(t, q); got != "+a1" {
			t.Errorf("Q3: got %s, want +a1", got)
		}
	})
}

func TestPoppersWaitForWork(t *testing.T) {
	wake := map[string]func(t *testing.T, q Queue[obj]){
		"Add":      func(t *testing.T, q Queue[obj]) { run(t, q, "+c1") },
		"Update":   func(t *testing.T, q Queue[obj]) { run(t, q, "~c1") },
		"Delete":   func(t *testing.T, q Queue[obj]) { run(t, q, "-a1") },
		"Replace":  func(t *testing.T, q Queue[obj]) { run(t, q, "{a1}") },
		"Bookmark": func(t *testing.T, q Queue[obj]) { run(t, q, "@1") },
		"Resync":   func(t *testing.T, q Queue[obj]) { run(t, q, "??") },
	}
	for name, write := range wake {
		t.Run(name, func(t *testing.T) {
			inBubble(t, full, func(t *testing.T, q Queue[obj]) {
				var n atomic.Int32
				done := start(func() error {
					return q.PopBatch(t.Context(), func(d []Delta[obj]) error { n.Add(int32(len(d))); return nil })
				})
				pendingStill(t, done)
				write(t, q)
				endedWith(t, done, nil)
				if n.Load() == 0 {
					t.Error("process got an empty batch")
				}
			})
		})
	}
}

func TestCancelAndCloseEndWaitingPoppers(t *testing.T) {
	inBubble(t, full, func(t *testing.T, q Queue[obj]) {
		ctx, cancel := context.WithCancel(t.Context())
		var canceled, closed []<-chan error
		for range 5 {
			canceled = append(canceled, start(func() error { return q.PopBatch(ctx, nil) }))
			closed = append(closed, start(func() error { return q.PopBatch(t.Context(), nil) }))
		}
		if f, ok := q.(*DeltaFIFO[obj]); ok {
			canceled = append(canceled, start(func() error { return f.Pop(ctx, nil) }))
			closed = append(closed, start(func() error { return f.Pop(t.Context(), nil) }))
		}
		pendingStill(t, canceled[0])
		cancel()
		for _, done := range canceled {
			endedWith(t, done, context.Canceled)
		}
		pendingStill(t, closed[0])
		q.Close()
		for _, done := range closed {
			endedWith(t, done, ErrClosed)
		}
	})
}

// Q4: one process at a time; the next popper waits for its turn, or gives up.
func TestPoppersTakeTurns(t *testing.T) {
	inBubble(t, full, func(t *testing.T, q Queue[obj]) {
		run(t, q, "+a1")
		leave := make(chan struct{})
		first := start(func() error {
			return q.PopBatch(t.Context(), func([]Delta[obj]) error { <-leave; return nil })
		})
		synctest.Wait()
		run(t, q, "+b2") // no lock is held while the first is at work

		ctx, cancel := context.WithCancel(t.Context())
		impatient := start(func() error { return q.PopBatch(ctx, nil) })
		second := start(func() error {
			return q.PopBatch(t.Context(), func(d []Delta[obj]) error {
				if got := text(d); got != "+b2" {
					return fmt.Errorf("got %s, want +b2", got)
				}
				return nil
			})
		})
		pendingStill(t, second)
		cancel()
		endedWith(t, impatient, context.Canceled)
		pendingStill(t, first)
		close(leave)
		endedWith(t, first, nil)
		endedWith(t, second, nil)
	})
}

// No wake-up is lost: with room for one delta only, every write by many
// writers reaches one of many poppers. A lost one would deadlock the bubble.
func TestNoWakeUpIsLost(t *testing.T) {
	inBubble(t, Options[obj]{MaxDepth: 1}, func(t *testing.T, q Queue[obj]) {
		const writers, poppers, each = 8, 4, 200
		var wrote []<-chan error
		for w := range writers {
			wrote = append(wrote, start(func() error {
				for i := range each {
					if err := q.Add(t.Context(), it(fmt.Sprintf("k%d", w), fmt.Sprint(i))); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		next := map[string]int{} // guarded by Q4
		got := 0
		var popped []<-chan error
		for range poppers {
			popped = append(popped, start(func() error {
				for {
					err := q.PopBatch(t.Context(), func(d []Delta[obj]) error {
						for _, d := range d {
							if d.Type != Added {
								continue
							}
							key := d.Item.Key.Name
							if want := fmt.Sprint(next[key]); d.Item.ResourceVersion != want {
								return fmt.Errorf("Q1: got %s%s, want version %s", key, d.Item.ResourceVersion, want)
							}
							next[key]++
							got++
						}
						return nil
					})
					if err != nil {
						return err
					}
				}
			}))
		}
		for _, done := range wrote {
			must(t, <-done)
		}
		q.Close()
		for _, done := range popped {
			if err := <-done; err != ErrClosed {
				t.Error(err)
			}
		}
		if got != writers*each {
			t.Errorf("Q1: %d deltas came through, want %d", got, writers*each)
		}
	})
}
