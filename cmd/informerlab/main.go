package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"informer.example/compare"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == compare.ChildArgument {
		os.Exit(compare.ChildMain())
	}
	// A reader of our output that goes away (as in "informerlab watch pods | head")
	// must not kill the process before it has written --dump.
	signal.Ignore(syscall.SIGPIPE)
	// client-go logs to standard error what it returns as an error as well (L2).
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctx, stop := untilSignal(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// interrupted is why a context of untilSignal ended.
type interrupted struct{ signal os.Signal }

func (e *interrupted) Error() string { return "ended by signal: " + e.signal.String() }

// exitCode is the shell's convention: 130 for Ctrl-C.
func (e *interrupted) exitCode() int {
	if n, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
}

// untilSignal ends the context at the first SIGINT, SIGTERM or SIGHUP (the
// terminal was closed). The second one kills the process in the operating
// system's way.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			cancel(&interrupted{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
