package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// L1, L2: what is wrong with a command line is said in one line, exit 2,
// before anything is started.
func TestL2Usage(t *testing.T) {
	for _, tt := range []struct {
		why  string
		args string
		want string
	}{
		{"unknown command", "frobnicate", `unknown command "frobnicate"`},
		{"unknown flag", "compare --fast", "unknown flag: --fast"},
		{"no number", "compare --objects many", `--objects "many": want a whole number`},
		{"a time without a unit", "watch pods --for 10", `--for "10": want a time with its unit`},
		{"help on nothing", "help frobnicate", `no help on "frobnicate"`},
		{"a port out of range", "serve --addr 127.0.0.1:99999", "the port must be a number"},
		{"a pod without its namespace", "watch pods --get web-0", "pods are in namespaces"},
		{"a node with a namespace", "watch nodes --get default/node-0", "nodes are not in namespaces"},
		{"an argument where none is taken", "compare pods", `unexpected argument "pods"`},
		{"nothing to compare on", "compare --objects 0", `--objects "0": must be from 1`},
		{"too much", "compare --objects 1000000", "must be from 1 to 200000"},
		{"rate", "compare --rate -1", `--rate "-1"`},
		{"duration", "compare --duration 1ms", `--duration "1ms"`},
		{"unknown encoding", "compare --encoding yaml", "must be json or protobuf"},
		{"unknown subject", "compare --subjects naive,theirs", `--subjects "theirs": unknown; known are naive, ours`},
		{"empty kubeconfig", "compare --kubeconfig=", "--kubeconfig: no file named"},
		{"context alone", "watch pods --context x", "--context needs --kubeconfig"},
		{"no resource", "watch", "which resource?"},
		{"two resources", "watch pods nodes", `unexpected argument "nodes"`},
		{"a resource in capitals", "watch Pods", "in lower case"},
		{"a path is no resource", "watch ../pods", "want RESOURCE"},
		{"empty parts", "watch pods..v1", "want RESOURCE"},
		{"watch's encoding", "watch pods --encoding cbor", "must be auto, json or protobuf"},
		{"queue", "watch pods --queue lifo", "must be inorder or deltafifo"},
		{"output", "watch pods -o yaml", "must be text or json"},
		{"label selector", "watch pods -l =x", "--selector"},
		{"field selector", "watch pods --field-selector x", "--field-selector"},
		{"namespace", "watch pods -n a/b", "--namespace"},
		{"a namespace for what has none", "watch nodes -n default", "nodes are not in namespaces"},
		{"no IP", "watch pods --by-ip 10.0.0", "no IP address"},
		{"IPs of something else", "watch nodes --by-ip 10.0.0.1", "only pods have IPs"},
		{"no key", "watch pods --get a/b/c", "more than one slash"},
		{"time backwards", "watch pods --for -1s", "must not be negative"},
		{"writing to a real cluster", "watch pods --kubeconfig x --rate 5", "nothing is written to a real one"},
		{"a public address", "serve --addr 0.0.0.0:0", "not a loopback address"},
		{"an address of this machine's network", "serve --addr 192.0.2.1:80", "not a loopback address"},
		{"a host name may change its meaning", "serve --addr example.com:80", "no IP address"},
		{"no port", "serve --addr 127.0.0.1", "want HOST:PORT"},
		{"negative objects", "serve --objects -1", "--objects -1"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := execute(t.Context(), strings.Fields(tt.args)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit %d with stdout %q; want %d and nothing", got.code, got.stdout, exitUsage)
			}
			if len(lines(got.stderr)) != 1 || !strings.Contains(got.stderr, tt.want) || !strings.Contains(got.stderr, "--help'") {
				t.Errorf("stderr %q; want one line with %q and where help is", got.stderr, tt.want)
			}
		})
	}
}

// L1, L2: what the command line can't be blamed for is exit 1.
func TestL2Failures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nobody := file("nobody", kubeconfigFor("https://127.0.0.1:1"))
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"no kubeconfig", []string{"watch", "pods", "--kubeconfig", filepath.Join(dir, "absent")}, "no such file"},
		{"a file that is none", []string{"compare", "--kubeconfig", file("junk", "junk")}, "junk"},
		{"no such context", []string{"watch", "pods", "--kubeconfig", nobody, "--context", "other"}, "other"},
		{"nobody there", []string{"watch", "pods", "--kubeconfig", nobody}, "can't reach the API server at https://127.0.0.1:1: connect: connection refused"},
		{"nobody there to ask about a resource", []string{"watch", "widgets", "--kubeconfig", nobody}, "connection refused"},
		{"nobody there to compare on", []string{"compare", "--kubeconfig", nobody}, "can't reach the API server at 127.0.0.1:1"},
		{"unknown resource", []string{"watch", "po"}, `no resource "po" that can be watched; give the plural name; it has configmaps, `},
		{"unknown resource, fully named", []string{"watch", "things.v1.nowhere.example"}, "404"},
		{"protobuf of a custom resource", []string{"watch", "widgets", "--encoding", "protobuf"}, "custom ones speak JSON only"},
		{"a field that can't be selected by", []string{"watch", "pods", "--field-selector", "spec.colour=red"}, "spec.colour"},
		{"a dump that can't be written", []string{"watch", "pods", "--dump", filepath.Join(dir, "no", "such", "folder")}, "--dump"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := execute(t.Context(), tt.args...)
			stderr := lines(got.stderr)
			if tt.args[0] == "compare" && len(stderr) == 2 {
				stderr = stderr[1:] // after what is going to be done
			}
			if got.code != exitFailed || len(stderr) != 1 || !strings.Contains(stderr[0], tt.want) {
				t.Errorf("exit %d, stderr %q; want %d and one line with %q", got.code, got.stderr, exitFailed, tt.want)
			}
			for _, raw := range []string{"goroutine", "struct {", "*url", "&"} {
				if strings.Contains(got.stderr, raw) {
					t.Errorf("stderr %q shows internals: %q", got.stderr, raw)
				}
			}
		})
	}
}

func kubeconfigFor(url string) string {
	return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "` + url + `"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`
}

func TestHelp(t *testing.T) {
	var all strings.Builder
	for _, args := range [][]string{{}, {"compare", "--help"}, {"watch", "--help"}, {"serve", "--help"}} {
		got := execute(t.Context(), args...)
		if got.code != exitDone || got.stderr != "" {
			t.Fatalf("%v: exit %d, stderr %q", args, got.code, got.stderr)
		}
		if strings.Count(got.stdout, "Examples:") != 1 {
			t.Errorf("%v: want one example:\n%s", args, got.stdout)
		}
		all.WriteString("$ informerlab " + strings.Join(args, " ") + "\n" + got.stdout + "\n")
	}
	golden := filepath.Join("testdata", "help.txt")
	if *updateGolden {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("help has changed; if it should have, run with -update (-want +got):\n%s", diff)
	}
	if got := execute(t.Context(), "--version"); got.code != exitDone || !strings.HasPrefix(got.stdout, "informerlab ") {
		t.Errorf("--version: exit %d, %q", got.code, got.stdout)
	}
}

func TestParseResource(t *testing.T) {
	for _, tt := range []struct {
		arg   string
		want  resourceName
		known string // of the built-in ones, "" if none
	}{
		{"pods", resourceName{"pods", "", ""}, "pods"},
		{"pods.v1", resourceName{"pods", "v1", ""}, "pods"},
		{"pods.v2", resourceName{"pods", "v2", ""}, ""},
		{"deployments", resourceName{"deployments", "", ""}, "deployments.v1.apps"},
		{"deployments.apps", resourceName{"deployments", "", "apps"}, "deployments.v1.apps"},
		{"deployments.v1.apps", resourceName{"deployments", "v1", "apps"}, "deployments.v1.apps"},
		{"deployments.v1beta1.apps", resourceName{"deployments", "v1beta1", "apps"}, ""},
		{"deployments.v1", resourceName{"deployments", "v1", ""}, ""},
		{"leases.coordination.k8s.io", resourceName{"leases", "", "coordination.k8s.io"}, "leases.v1.coordination.k8s.io"},
		{"widgets.v1.a.b.example", resourceName{"widgets", "v1", "a.b.example"}, ""},
		{"widgets.vx.example", resourceName{"widgets", "", "vx.example"}, ""},
	} {
		t.Run(tt.arg, func(t *testing.T) {
			got, err := parseResource(tt.arg)
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, tt.want)
			}
			known := ""
			if k, ok := got.known(); ok {
				known = fullName(k.gvr)
			}
			if known != tt.known {
				t.Fatalf("taken for %q, want %q", known, tt.known)
			}
		})
	}
}

func TestReport(t *testing.T) {
	stop := &interrupted{os.Interrupt}
	for _, tt := range []struct {
		why  string
		err  error
		code int
		want string
	}{
		{"Ctrl-C needs no words", stop, 130, ""},
		{"what went wrong on the way out does", errors.Join(stop, errors.New("the dump failed")), 130, "x: the dump failed\n"},
		{"several failures are one line", errors.Join(errors.New("a"), errors.New("b")), 1, "x: a; b\n"},
		{"usage", usagef("no"), 2, "x: no; see 'x --help'\n"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := report(&stderr, "x", tt.err); code != tt.code || stderr.String() != tt.want {
				t.Errorf("exit %d, %q; want %d, %q", code, stderr.String(), tt.code, tt.want)
			}
		})
	}
}
