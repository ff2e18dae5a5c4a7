package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// line is what matters here of a line of "watch -o json".
type line struct {
	Type, Key, UID, ResourceVersion string
	Count                           int
	Synced                          bool
}

func TestInformerlabWatch(t *testing.T) { // P1, P2, P7
	t.Parallel()
	tests := []struct {
		name, resource string
		writes         *writer
		args           []string
		interrupt      bool
	}{
		{"pods", "pods", newWriter(t, podResource, makeNamespace(t)), []string{"--for", "6s"}, false},
		{"widgets", "widgets.v1.demo.informer.example", newWriter(t, widgetResource, makeNamespace(t)),
			[]string{"--queue", "deltafifo"}, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := tc.writes
			w.t = t
			for i := range 5 {
				w.create(fmt.Sprintf("a-%d", i))
			}
			w.awaitCache()
			dump := filepath.Join(t.TempDir(), "dump.json")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := program(ctx, t, "informerlab", append([]string{"watch", tc.resource, "--kubeconfig", cluster.KubeconfigFile(),
				"-n", w.namespace, "-o", "json", "--dump", dump}, tc.args...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { // nothing is left running when the test fails half-way
				cancel()
				_ = cmd.Wait()
			}()

			known := make(map[string]version)
			var want map[string]version // set once all is written
			var last line
			interrupted := false
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				last = line{}
				if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
					t.Fatalf("%v in the line %s", err, lines.Bytes())
				}
				switch last.Type {
				case "ADDED", "UPDATED":
					known[last.Key] = version{last.UID, last.ResourceVersion}
				case "DELETED":
					delete(known, last.Key)
				case "SYNCED":
					if last.Count != 5 {
						t.Errorf("synced with %d objects, want 5", last.Count)
					}
					w.touch("a-0")
					w.remove("a-1")
					w.create("b-0")
					want = w.state()
				case "ERROR":
					t.Errorf("unexpected: %s", lines.Bytes())
				}
				if tc.interrupt && !interrupted && want != nil && maps.Equal(known, want) {
					interrupted = true
					if err := cmd.Process.Signal(os.Interrupt); err != nil {
						t.Fatal(err)
					}
				}
			}
			code := 0
			if tc.interrupt {
				code = 130
			}
			if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != code {
				t.Errorf("exit code %d, want %d; standard error: %s", cmd.ProcessState.ExitCode(), code, &stderr)
			}
			if last.Type != "STATUS" || !last.Synced {
				t.Errorf("the last line is %+v, want a STATUS that is synced", last)
			}
			if diff := gocmp.Diff(want, known); diff != "" {
				t.Errorf("the events don't add up to what the server has (-server +events):\n%s", diff)
			}
			var dumped []entry
			if err := json.Unmarshal(readFile(t, dump), &dumped); err != nil {
				t.Fatal(err)
			}
			var server []entry
			for _, key := range slices.Sorted(maps.Keys(want)) {
				server = append(server, entry{key, want[key].UID, want[key].ResourceVersion})
			}
			if diff := gocmp.Diff(server, dumped); diff != "" {
				t.Errorf("the dump differs from the server's list (-server +dump):\n%s", diff)
			}
		})
	}
}

func TestInformerlabCompare(t *testing.T) { // P7
	t.Parallel()
	r := runToEnd(t, "informerlab", "compare", "--kubeconfig", cluster.KubeconfigFile(),
		"--duration", "3s", "--objects", "50", "--rate", "20", "--json")
	if r.code != 0 {
		t.Fatalf("exit code %d:\n%s", r.code, r.stderr)
	}
	var out struct {
		Subjects []struct {
			Name                    string
			Requests, BytesReceived uint64
			CPUSeconds              float64
			Converged               bool
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Subjects) != 3 {
		t.Errorf("%d subjects, want naive, ours and client-go:\n%s", len(out.Subjects), r.stdout)
	}
	for _, s := range out.Subjects {
		if !s.Converged || s.Requests == 0 || s.BytesReceived == 0 || s.CPUSeconds == 0 {
			t.Errorf("want it converged and its costs measured: %+v", s)
		}
	}

	client, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=informerlab"})
	if err != nil {
		t.Fatal(err)
	}
	// Nobody finalises namespaces here: one that is removed stays, empty and terminating.
	for _, ns := range made.Items {
		pods, err := client.CoreV1().Pods(ns.Name).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ns.DeletionTimestamp == nil || len(pods.Items) > 0 {
			t.Errorf("namespace %s with %d pods is left, deleted at %v", ns.Name, len(pods.Items), ns.DeletionTimestamp)
		}
	}
	if len(made.Items) == 0 {
		t.Error("no namespace was made: the run was not on this server")
	}
}

func TestInformerlabRefused(t *testing.T) { // P7
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
		why  string // what it is about
	}{
		{"watch without rights", []string{"watch", "pods", "--for", "20s", "--kubeconfig", nobody(t)}, "forbidden", "ends at once, without waiting for --for"},
		{"compare without rights", []string{"compare", "--duration", "1s", "--kubeconfig", nobody(t)}, "forbidden", "no namespace can be made"},
		{"watch of a resource that isn't there", []string{"watch", "gadgets.v1.demo.informer.example", "--kubeconfig", cluster.KubeconfigFile()}, "gadgets", "the server serves the group, but not this"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := runToEnd(t, "informerlab", tc.args...)
			said := r.stderr
			if tc.args[0] == "compare" { // says what it is about to do before
				said = said[strings.LastIndex(strings.TrimSuffix(said, "\n"), "\n")+1:]
			}
			if r.code != 1 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "informerlab "+tc.args[0]+": ") || !strings.Contains(said, tc.want) {
				t.Errorf("exit code %d, standard error:\n%s\nwant 1 and one line with %q (%s)", r.code, r.stderr, tc.want, tc.why)
			}
			if out := strings.TrimSuffix(r.stdout, "\n"); out != "" && (strings.Contains(out, "\n") || !strings.Contains(out, " STATUS ")) {
				t.Errorf("printed more than the status:\n%s", out)
			}
		})
	}
}
