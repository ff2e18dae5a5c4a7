package realcluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// buildInto builds all programs beside dir and then renames, so that dir is
// whole or absent. Builds of other versions are removed: each takes 150 MB.
func buildInto(ctx context.Context, w io.Writer, src, dir, version string) error {
	cache := filepath.Dir(dir)
	old, err := filepath.Glob(filepath.Join(cache, "*-*"))
	if err != nil {
		return err
	}
	for _, o := range old {
		if err := os.RemoveAll(o); err != nil {
			return fmt.Errorf("remove the binaries of another version: %w", err)
		}
	}
	tmp, err := os.MkdirTemp(cache, "partial-")
	if err != nil {
		return fmt.Errorf("make the folder for the server binaries: %w", err)
	}
	defer os.RemoveAll(tmp)

	begin := time.Now()
	fmt.Fprintf(w, "realcluster: building kube-apiserver %s and etcd from source; once, some minutes\n", version)
	for _, p := range programs() {
		if err := buildOne(ctx, w, src, filepath.Join(tmp, p.name), p, version); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("put the server binaries in place: %w", err)
	}
	fmt.Fprintf(w, "realcluster: built in %s: %s\n", time.Since(begin).Round(time.Second), dir)
	return nil
}

// buildOne builds p and prints a line every few seconds: a build that takes
// minutes without a word looks hung.
func buildOne(ctx context.Context, w io.Writer, src, out string, p program, version string) error {
	begin := time.Now()
	args := append([]string{"build", "-v", "-o", out}, buildFlags(version)...)
	cmd := goCommand(ctx, src, append(args, p.pkg)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the go command: %w", err)
	}
	lines := make(chan string)
	go func() { // ends when the go command closes its stderr
		defer close(lines)
		s := bufio.NewScanner(stderr)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			lines <- s.Text()
		}
		_, _ = io.Copy(io.Discard, stderr) // a line too long must not block the command
	}()
	report := time.NewTicker(5 * time.Second)
	defer report.Stop()
	var last tail
	count := 0
	for lines != nil {
		select {
		case line, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			last.add(line)
			count++
		case <-report.C:
			fmt.Fprintf(w, "realcluster: %s: %s, %d packages compiled%s\n", p.name, time.Since(begin).Round(time.Second), count, last.newest())
		}
	}
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build %s: %w", p.name, ctx.Err())
		}
		return fmt.Errorf("build %s: %w; the go command's last lines:\n%s", p.name, err, last.text())
	}
	fmt.Fprintf(w, "realcluster: %s built in %s\n", p.name, time.Since(begin).Round(time.Second))
	return nil
}

// tail keeps the last lines of a command's output, for the message of its failure.
type tail []string

const tailLines = 20

func (t *tail) add(line string) {
	*t = append(*t, line)
	if len(*t) > tailLines {
		*t = (*t)[1:]
	}
}

func (t tail) newest() string {
	if len(t) == 0 {
		return "" // loading, or all is compiled and it links
	}
	return ", now " + t[len(t)-1]
}

func (t tail) text() string { return strings.Join(t, "\n") }
