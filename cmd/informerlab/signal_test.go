//go:build linux || darwin

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"informer.example/compare"
)

// program is the built binary, running.
type program struct {
	*exec.Cmd
	stdout, stderr *bufio.Reader
}

func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(buildBinary(t), args...)}
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout, p.stderr = bufio.NewReader(stdout), bufio.NewReader(stderr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// await reads lines up to one with the text.
func await(t *testing.T, from *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("the output ended before a line with %q", text)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

// signal sends it and returns the exit code and what was still written.
func (p *program) signal(t *testing.T, s os.Signal) (int, string) {
	t.Helper()
	begin := time.Now()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(p.stdout)
	said, _ := io.ReadAll(p.stderr)
	err := p.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v to end", took)
	}
	if strings.Contains(string(said), "goroutine ") {
		t.Errorf("it died: %s", said)
	}
	return p.ProcessState.ExitCode(), string(rest)
}

func TestL4Signals(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			dump := filepath.Join(t.TempDir(), "dump")
			p := startProgram(t, "watch", "pods", "-o", "json", "--objects", "5", "--rate", "0", "--dump", dump)
			await(t, p.stdout, `"SYNCED"`)
			code, rest := p.signal(t, tt.signal)
			if code != tt.code || !strings.Contains(rest, `"STATUS"`) {
				t.Errorf("watch: exit %d after %q; want %d and STATUS as the last line", code, rest, tt.code)
			}
			var entries []dumpedEntry
			if raw, err := os.ReadFile(dump); err != nil || json.Unmarshal(raw, &entries) != nil || len(entries) != 5 {
				t.Errorf("dump: %s, %v", raw, err)
			}

			p = startProgram(t, "serve", "--objects", "5")
			url := strings.TrimSpace(await(t, p.stdout, "http://127.0.0.1:"))
			await(t, p.stdout, "DELETE")
			answer, err := http.Get(url + "/api/v1/pods?watch=1") // held open over the end
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if code, _ := p.signal(t, tt.signal); code != tt.code {
				t.Errorf("serve: exit %d, want %d", code, tt.code)
			}

			p = startProgram(t, "compare", "--objects", "50", "--duration", "1m", "--subjects", "ours")
			await(t, p.stderr, string(compare.Writing))
			children := childrenOf(t, p.Process.Pid)
			if code, rest := p.signal(t, tt.signal); code != tt.code || rest != "" {
				t.Errorf("compare: exit %d, %q; want %d", code, rest, tt.code)
			}
			for _, pid := range children {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("child %d is still there", pid)
				}
			}
		})
	}
}

// childrenOf is empty where the operating system has no /proc.
func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil
	}
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	if len(pids) != 2 {
		t.Errorf("%d children while a subject runs; want a server and a subject", len(pids))
	}
	return pids
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
	}{
		{"--version", 0},
		{"watch pods --for 1ms --objects 0 --rate 0", -1}, // 0 or 1: which comes first is open
		{"watch po", 1},
		{"watch pods --nonsense", 2},
		{"compare --objects 0", 2},
	} {
		t.Run(tt.args, func(t *testing.T) {
			cmd := exec.Command(buildBinary(t), strings.Fields(tt.args)...)
			_ = cmd.Run() // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != tt.code && tt.code >= 0 || code > 2 || code < 0 {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
		})
	}
}
