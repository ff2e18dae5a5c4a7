package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"informer.example/realcluster"
)

// manifest has an object of a built-in and one of a custom resource.
const manifest = `apiVersion: v1
kind: Pod
metadata: {name: hello, labels: {app: one}}
spec: {containers: [{name: main, image: registry.example/main:1}]}
---
apiVersion: informerlab.example/v1
kind: Widget
metadata: {name: w}
spec: {size: 3}
`

// The real kubectl works against the simulated server, with nothing switched
// off: discovery, tables, validation, client-side apply, watching and waiting.
func TestKubectlAgainstSimulator(t *testing.T) {
	t.Parallel()
	bin, err := realcluster.Binaries(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	mustBuild(t) // may take longer than all that follows
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	url := serveSimulator(ctx, t)
	home := t.TempDir()
	file := filepath.Join(home, "manifest.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubectl := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl"), append([]string{"--server", url, "--cache-dir", filepath.Join(home, "cache")}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG="+os.DevNull)
		return cmd
	}

	write(manifest)
	watching := kubectl("get", "pods", "-A", "--watch", "--output-watch-events", "--no-headers", "-L", "app")
	var watched lockedBuffer
	watching.Stdout, watching.Stderr = &watched, &watched
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watching.Wait() }() // it ends by the signal below, or with ctx
	defer func() { _ = watching.Process.Signal(os.Interrupt) }()
	sees := func(what, pattern string) {
		t.Helper()
		eventually(t, what, func() bool { return regexp.MustCompile(pattern).MatchString(watched.String()) }, watched.String)
	}
	sees("kubectl lists and watches", `(ADDED .* app-\S+ .*\n){3}`)

	for _, tc := range []struct {
		args string
		want string // a regular expression for the whole output
		code int
	}{
		{args: "get pods -A", want: `NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\n(team-0\d +app-\S+ +2/2 +Running +0 +\d+s\n){3}`},
		{args: "get po -n team-01 -o wide", want: `NAME .* IP +NODE +NOMINATED NODE +READINESS GATES\napp-01-\S+ .* node-\d+ +<none> +<none>\n`},
		{args: "create -f " + file, want: `pod/hello created\nwidget.informerlab.example/w created\n`},
		{args: "create -f " + file, want: `(?s).*"hello" already exists.*"w" already exists.*`, code: 1},
		{args: "get pod,widget", want: `NAME +READY +STATUS +RESTARTS +AGE\npod/hello +0/1 +Pending +0 +\d+s\n\nNAME +AGE\nwidget.informerlab.example/w +\d+s\n`},
		{args: "get pod hello -o jsonpath={.kind}/{.spec.containers[0].image}", want: `Pod/registry.example/main:1`},
		{args: "get widget w -o yaml", want: `(?s)apiVersion: informerlab.example/v1\nkind: Widget\n.*spec:\n  size: 3\n`},
		{args: "label pod hello app=two --overwrite", want: `pod/hello labeled\n`},
		{args: "get pods -l app=two -o name", want: `pod/hello\n`},
		{args: "get pods --sort-by=.metadata.name", want: `NAME .*\nhello .*\n`},
		{args: "get pods --field-selector=spec.nodeName=none", want: `No resources found in default namespace.\n`},
		{args: "apply -f -", want: `(?s).*pod/hello configured\n.*widget.informerlab.example/w configured\n`},
		{args: "apply -f -", want: `pod/hello unchanged\nwidget.informerlab.example/w unchanged\n`},
		{args: "delete pod/hello widget/w", want: `pod "hello" deleted.*\nwidget.informerlab.example "w" deleted.*\n`},
		{args: "get pod hello", want: `Error from server \(NotFound\): pods "hello" not found\n`, code: 1},
	} {
		cmd := kubectl(strings.Fields(tc.args)...)
		if strings.HasSuffix(tc.args, "-f -") {
			cmd.Stdin = strings.NewReader(strings.Replace(manifest, "app: one", "app: three", 1))
		}
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != tc.code || !regexp.MustCompile(`^`+tc.want+`$`).Match(out) {
			t.Errorf("kubectl %s: exit code %d, %v\n%s", tc.args, code, err, out)
		}
	}

	write(strings.Replace(manifest, "containers:", "contaners:", 1))
	if out, err := kubectl("create", "-f", file).CombinedOutput(); err == nil || !bytes.Contains(out, []byte(`unknown field "spec.contaners"`)) {
		t.Errorf("a misspelt field: %v\n%s", err, out)
	}

	sees("the watch shows each change once", `ADDED .* hello .* one\nMODIFIED .* hello .* two\nMODIFIED .* hello .* three\nDELETED .* hello .* three\n`)
}

// lockedBuffer is written by a command while the test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serveSimulator runs "informerlab serve" until the test ends.
func serveSimulator(ctx context.Context, t *testing.T) (url string) {
	t.Helper()
	cmd := program(ctx, t, "informerlab", "serve", "--objects", "3", "--rate", "0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	first := bufio.NewScanner(stdout)
	if !first.Scan() || !strings.HasPrefix(first.Text(), "http://127.0.0.1:") {
		t.Fatalf("informerlab serve began with %q, %v", first.Text(), first.Err())
	}
	return first.Text()
}
