//go:build linux || darwin

package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays the child when it is started with this argument.
const childArg = "child-of-a-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		os.Exit(Run(testMux()))
	}
	// The race detector sleeps a second before each exit, longer than a child may.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

type sum struct{ A, B int }

func testMux() *Mux {
	m := &Mux{}
	Handle(m, "add", func(_ context.Context, s sum) (int, error) { return s.A + s.B, nil })
	Handle(m, "fail", func(_ context.Context, why string) (int, error) { return 0, errors.New(why) })
	Handle(m, "wait", func(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
	Handle(m, "hang", func(context.Context, int) (int, error) { select {} })
	Handle(m, "panic", func(context.Context, int) (int, error) { panic("a planted panic") })
	Handle(m, "exit", func(context.Context, int) (int, error) {
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
		return 0, nil
	})
	Handle(m, "start", func(ctx context.Context, _ int) (int, error) {
		// The grandchild outlives this call and dies with this process.
		p, err := Start(context.Background(), []string{os.Args[0], childArg})
		if err != nil {
			return 0, err
		}
		return p.PID(), nil
	})
	return m
}

func start(t *testing.T, ctx context.Context) *Process {
	t.Helper()
	p, err := Start(ctx, []string{os.Args[0], childArg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestCallsAreAnswered(t *testing.T) {
	ctx := t.Context()
	p := start(t, ctx)
	for i := range 3 {
		got, err := Call[sum, int](ctx, p, "add", sum{i, 40})
		if err != nil || got != i+40 {
			t.Fatalf("add = %d, %v; want %d", got, err, i+40)
		}
	}
	_, err := Call[string, int](ctx, p, "fail", "no luck")
	if failed := (*Error)(nil); !errors.As(err, &failed) || err.Error() != "no luck" {
		t.Fatalf("err = %v (%T); want the method's own text", err, err)
	}
	if _, err := Call[int, int](ctx, p, "nothing", 1); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Fatalf("err = %v; want the unknown method named", err)
	}
	if _, err := Call[string, int](ctx, p, "add", "no sum"); err == nil || !strings.Contains(err.Error(), "decode the request for add") {
		t.Fatalf("err = %v; want a request that does not fit refused", err)
	}
	if got, err := Call[sum, int](ctx, p, "add", sum{1, 1}); err != nil || got != 2 {
		t.Fatalf("after errors: add = %d, %v; want 2", got, err)
	}
	if err := p.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func TestC3DeathFailsTheCall(t *testing.T) {
	for _, tt := range []struct {
		why, method, want string
	}{
		{"a panic is quoted without its stack", "panic", "panic: a planted panic"},
		{"otherwise the last line counts", "exit", "exit status 3: last words"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := start(t, t.Context())
			_, err := Call[int, int](t.Context(), p, tt.method, 0)
			exit := (*ExitError)(nil)
			if !errors.As(err, &exit) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "goroutine") {
				t.Fatalf("err = %v (%T); want an ExitError with %q and no stack", err, err, tt.want)
			}
			if _, err := Call[int, int](t.Context(), p, "wait", 0); !errors.As(err, &exit) {
				t.Fatalf("a later call: err = %v; want an ExitError", err)
			}
		})
	}
}

func TestC4CloseReapsInTime(t *testing.T) {
	for _, method := range []string{"wait", "hang"} {
		t.Run(method, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			p := start(t, ctx)
			got := make(chan error, 1)
			go func() {
				_, err := Call[int, int](ctx, p, method, 0)
				got <- err
			}()
			why := errors.New("enough")
			cancel(why)
			if err := <-got; !errors.Is(err, why) {
				t.Fatalf("err = %v; want the context's cause", err)
			}
			begin := time.Now()
			p.Close()
			if took := time.Since(begin); took > time.Second {
				t.Fatalf("Close took %v", took)
			}
			if alive(p.PID()) {
				t.Fatal("the process is still there")
			}
		})
	}
}

// C1: killed outright, a parent can't tell its children anything; they end all
// the same.
func TestC1NoOrphans(t *testing.T) {
	p := start(t, t.Context())
	pid, err := Call[int, int](t.Context(), p, "start", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatal("the grandchild did not start")
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Close()
	deadline := time.Now().Add(5 * time.Second)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived its parent", pid)
		}
		time.Sleep(time.Millisecond) // another process's end can only be polled for
	}
}

func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// An orphan that nobody reaps (no init in a container) is dead as well.
		_, state, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(state, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}
