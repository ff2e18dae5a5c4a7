package realcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// assetsVariable is envtest's name for a folder with ready-made binaries.
const assetsVariable = "KUBEBUILDER_ASSETS"

// program is one binary: its file name and the packages it is built from.
type program struct {
	name string
	pkg  string
}

// programs are in the order of their build time, so that a mistake shows early.
func programs() []program {
	return []program{
		{"etcd", "go.etcd.io/etcd/server/v3"},
		{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	}
}

// Binaries returns the folder that holds etcd, kube-apiserver and kubectl, and
// builds them first if they are not there. It reports progress as lines on w.
//
// It must be called from a directory inside this module. Safe for concurrent
// use, also by several processes: one builds, the others wait.
func Binaries(ctx context.Context, w io.Writer) (string, error) {
	if dir := os.Getenv(assetsVariable); dir != "" {
		if missing := missingIn(dir); missing != "" {
			return "", fmt.Errorf("%s is %s, which has no %s: add it, or unset the variable to have it built", assetsVariable, dir, missing)
		}
		return dir, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	src := filepath.Join(root, "binaries")
	version, key, err := buildKey(ctx, src)
	if err != nil {
		return "", err
	}
	cache := filepath.Join(root, ".bin")
	dir := filepath.Join(cache, version+"-"+key)
	if missingIn(dir) == "" {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make the folder for the server binaries: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(cache, "lock"), w)
	if err != nil {
		return "", err
	}
	defer unlock()
	if missingIn(dir) == "" { // another process built it while we waited
		return dir, nil
	}
	if err := buildInto(ctx, w, src, dir, version); err != nil {
		return "", err
	}
	return dir, nil
}

// missingIn names the first program that dir lacks, "" if it has them all.
func missingIn(dir string) string {
	for _, p := range programs() {
		info, err := os.Stat(filepath.Join(dir, p.name))
		if err != nil || !info.Mode().IsRegular() {
			return p.name
		}
	}
	return ""
}

// moduleRoot finds this module's folder from the working directory, which
// go test and go run set inside the module.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the realcluster module: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "binaries", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the realcluster module: change to its folder", start)
		}
	}
}

// buildKey returns the Kubernetes version that src asks for, and a hash of all that
// decides what a build yields: versions, checksums, flags, Go release, platform.
func buildKey(ctx context.Context, src string) (version, key string, err error) {
	mod, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return "", "", fmt.Errorf("read the versions to build: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(src, "go.sum"))
	if err != nil {
		return "", "", fmt.Errorf("read the checksums of the sources: %w", err)
	}
	found := regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/kubernetes (v\d+\.\d+\.\d+\S*)`).FindSubmatch(mod)
	if found == nil {
		return "", "", fmt.Errorf("%s requires no k8s.io/kubernetes version", filepath.Join(src, "go.mod"))
	}
	version = string(found[1])
	cmd := goCommand(ctx, src, "env", "GOVERSION", "GOOS", "GOARCH")
	platform, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("ask the go command for its version: %w", err)
	}
	h := sha256.New()
	for _, part := range [][]byte{mod, sum, platform, []byte(strings.Join(buildFlags(version), " "))} {
		fmt.Fprintf(h, "%d ", len(part))
		h.Write(part)
	}
	return version, hex.EncodeToString(h.Sum(nil))[:12], nil
}

// buildFlags stamps the version: without it the server calls itself v0.0.0, and
// features that compare versions misbehave. -s -w leave out debug tables, a third of the size.
func buildFlags(version string) []string {
	const stamp = "-X k8s.io/component-base/version."
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	ldflags := "-s -w " +
		stamp + "gitVersion=" + version + " " +
		stamp + "gitMajor=" + parts[0] + " " +
		stamp + "gitMinor=" + parts[1]
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", ldflags}
}

// goCommand runs the go command in src, apart from any workspace, and without
// cgo so that a machine with only Go can build.
func goCommand(ctx context.Context, src string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	// Give the go command the chance to remove its work folder.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// lock takes the lock file, which the system releases when the process ends.
func lock(ctx context.Context, path string, w io.Writer) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the server binaries: %w", err)
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !told {
			fmt.Fprintln(w, "realcluster: another process is building the servers; waiting for it")
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("wait for another build of the servers: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}
