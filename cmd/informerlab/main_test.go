package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"informer.example/compare"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// binary is the built program; empty until buildBinary.
var binary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == compare.ChildArgument {
		os.Exit(compare.ChildMain()) // of a comparison run in the test's process
	}
	// The race detector sleeps a second before each exit, longer than a child may.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	klog.LogToStderr(false)
	flag.Parse()
	code := m.Run()
	if binary.dir != "" {
		os.RemoveAll(binary.dir)
	}
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// buildBinary returns the program's file, built once.
func buildBinary(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "informerlab"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "informerlab")
		out, err := exec.Command("go", "build", "-o", binary.path, ".").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// execute runs a command in this process.
func execute(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
