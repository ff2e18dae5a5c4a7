package realcluster

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// writeServer puts a shell script that stands for a server into a folder whose
// name needs quoting, with a guard in another such folder.
func writeServer(t *testing.T, script string) (guard, dir string) {
	t.Helper()
	base := t.TempDir()
	bin := filepath.Join(base, "it's $HOME", "server")
	dir = filepath.Join(base, "the run's dir")
	for _, d := range []string{filepath.Dir(bin), dir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	guard, err := writeGuard(dir, bin)
	if err != nil {
		t.Fatal(err)
	}
	return guard, dir
}

func TestGuardPassesArgumentsAndExitCode(t *testing.T) {
	guard, dir := writeServer(t, `printf '<%s>' "$@"; exit 7`)
	out, err := exec.Command(guard, "--a=b c", "", "$x").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the guard ended with %v; want the server's exit code 7", err)
	}
	if want := "<--a=b c><><$x>"; string(out) != want {
		t.Errorf("the server got %s; want %s", out, want)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the guard removed the folder though its parent lives: %v", err)
	}
}

// The parent is killed in a way that it cannot handle. The pipe shows the end:
// it closes when guard and server are gone.
func TestGuardEndsServerWithItsParent(t *testing.T) { // C4
	guard, dir := writeServer(t, `echo up; exec sleep 1000`)
	parent := exec.Command("sh", "-c", `"$0" & wait`, guard)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	parent.Stdout = w
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "up\n" {
		t.Fatalf("the server said %q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // reaped, or the guard would still see it
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the parent's end: %q, %v", rest, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there (%v)", err)
	}
}
