package pipeline

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// mainModule is the root of the module whose programs are run.
const mainModule = "../.."

// buildPrograms compiles every program of the main module that is run here.
var buildPrograms = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", scratch+string(filepath.Separator), "./cmd/informerlab", "./docs/examples/...")
	build.Dir = mainModule
	if out, err := build.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
})

func mustBuild(t *testing.T) {
	t.Helper()
	if err := buildPrograms(); err != nil {
		t.Fatalf("build the main module's programs: %v", err)
	}
}

// program makes a command of the main module's program of that name.
func program(ctx context.Context, t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	mustBuild(t)
	return exec.CommandContext(ctx, filepath.Join(scratch, name), args...)
}

// result is how a program ended.
type result struct {
	stdout, stderr string
	code           int
}

// runToEnd runs a program, and fails the test if it hangs.
func runToEnd(t *testing.T, name string, args ...string) result {
	t.Helper()
	mustBuild(t) // may take longer than the program
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := program(ctx, t, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v, %v\n%s%s", name, strings.Join(args, " "), err, ctx.Err(), &stdout, &stderr)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// kubeconfigOf writes a kubeconfig for a client's configuration.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// nobody is the kubeconfig of a user without rights.
func nobody(t *testing.T) string {
	t.Helper()
	config, err := cluster.AddUser("nobody-" + strings.ToLower(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfigOf(t, config)
}

// entry is an object in a dump.
type entry struct{ Key, UID, ResourceVersion string }

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
