package realcluster

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goMod = "module m\n\nrequire (\n\tk8s.io/kubernetes v1.2.3 // indirect\n)\n"

// writeModule writes the two files that a build key is made of.
func writeModule(t *testing.T, mod, sum string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuildKey(t *testing.T) { // C1
	key := func(mod, sum string) string {
		version, key, err := buildKey(t.Context(), writeModule(t, mod, sum))
		if err != nil {
			t.Fatal(err)
		}
		return version + "-" + key
	}
	first := key(goMod, "sum")
	if !strings.HasPrefix(first, "v1.2.3-") {
		t.Errorf("the key %s does not begin with the version", first)
	}
	for _, c := range []struct {
		why, mod, sum string
		same          bool
	}{
		{"the same sources are built once", goMod, "sum", true},
		{"another version is another build", strings.Replace(goMod, "1.2.3", "1.2.4", 1), "sum", false},
		{"another dependency is another build", goMod + "\n// x", "sum", false},
		{"other checksums are other sources", goMod, "mus", false},
	} {
		if got := key(c.mod, c.sum); (got == first) != c.same {
			t.Errorf("%s: keys %s and %s", c.why, first, got)
		}
	}
	if _, _, err := buildKey(t.Context(), writeModule(t, "module m\n", "")); err == nil {
		t.Error("a go.mod without Kubernetes has a key")
	}
}

func TestBuildFlagsStampTheVersion(t *testing.T) {
	const prefix = "-X k8s.io/component-base/version."
	flags := strings.Join(buildFlags("v1.37.2"), " ")
	for _, want := range []string{"gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"} {
		if !strings.Contains(flags, prefix+want) {
			t.Errorf("the flags %s do not set %s", flags, want)
		}
	}
}

func TestAssetsVariable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(assetsVariable, dir)
	for _, p := range programs() {
		_, err := Binaries(t.Context(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), p.name) {
			t.Errorf("without %s: %v; want an error that names it", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Binaries(t.Context(), io.Discard); err != nil || got != dir {
		t.Errorf("with all of them: %s, %v; want %s as it is", got, err, dir)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) { // C2
	src := writeModule(t, goMod, "")
	cache := t.TempDir()
	err := buildInto(t.Context(), io.Discard, src, filepath.Join(cache, "v1.2.3-key"), "v1.2.3")
	if err == nil || !strings.Contains(err.Error(), "build etcd") {
		t.Errorf("building what does not exist: %v; want an error that names etcd", err)
	}
	left, err := os.ReadDir(cache)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestLockIsExclusive(t *testing.T) { // C1
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	if _, err := lock(ctx, path, said); err == nil {
		t.Fatal("the lock was taken twice")
	}
	unlock()
	unlock, err = lock(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestTailKeepsTheLastLines(t *testing.T) {
	var lines tail
	if lines.newest() != "" {
		t.Errorf("before the first line: %q", lines.newest())
	}
	for i := range tailLines + 5 {
		lines.add(strings.Repeat("x", i))
	}
	if len(lines) != tailLines || slices.Contains(lines, strings.Repeat("x", 4)) || lines.newest() != ", now "+strings.Repeat("x", tailLines+4) {
		t.Errorf("kept %d lines, the newest %q", len(lines), lines.newest())
	}
}
