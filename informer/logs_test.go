package informer_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// A reflector logged without saying whose it was: with thirty informers, or ten
// namespaces, "attempt failed" told nobody which.
func TestReflectorsSayWhoseLinesTheseAre(t *testing.T) {
	refuseBad := func(r *http.Request) apisim.Fault {
		if strings.Contains(r.URL.Path, "/namespaces/bad/") || r.URL.Path == "/api/v1/pods" {
			return apisim.Refuse(metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "not you"}, 0)
		}
		return nil
	}
	run := func(t *testing.T, opts informer.Options[pod], namespaces ...string) {
		server := apisim.New()
		server.SetFault(refuseBad)
		source := func(ns string) (reflector.Source[pod], error) {
			return reflector.NewHTTPSource(server.Config(), podsGVR, reflector.SourceOptions[pod]{Namespace: ns})
		}
		i, err := informer.NewForNamespaces(source, namespaces, opts)
		if len(namespaces) == 0 {
			all, e := source("")
			if e != nil {
				t.Fatal(e)
			}
			i = informer.New(all, opts)
		}
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- i.Run(t.Context()) }()
		t.Cleanup(func() { <-done })
		synctest.Wait()
	}
	tests := []struct {
		why        string
		namespaces []string
		ofItsOwn   bool // the reflector has a logger of its own
		want       string
	}{
		{"all is watched as one", nil, false, `app=shop informer=my-pods err=`},
		{"namespaces one by one", []string{"good", "bad"}, false, `app=shop informer=my-pods namespace=bad err=`},
		{"what the user's logger says stays", []string{"good", "bad"}, true, `part=wire informer=my-pods namespace=bad err=`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var informers, wire bytes.Buffer // the only failing reflector writes to one of them
				opts := informer.Options[pod]{Name: "my-pods", Logger: slog.New(slog.NewTextHandler(&informers, nil)).With("app", "shop")}
				said := &informers
				if test.ofItsOwn {
					opts.Reflector.Logger = slog.New(slog.NewTextHandler(&wire, nil)).With("part", "wire")
					said = &wire
				}
				run(t, opts, test.namespaces...)
				if lines := said.String(); strings.Count(lines, "\n") != 1 || !strings.Contains(lines, `msg="attempt failed" `+test.want) {
					t.Errorf("logged\n%swant one line with\n%s", lines, test.want)
				}
			})
		})
	}
}

// logLine is one call of a logger, or one row of the table of them.
type logLine struct {
	level, message string
	keys           []string
}

// docs/observability.md lists every line that is logged, with its level and
// keys, and no other.
func TestLogLinesAreDocumented(t *testing.T) {
	called := append(logCalls(t, "."), logCalls(t, "../reflector")...)
	for _, row := range logTable(t, "../docs/observability.md") {
		n := slices.IndexFunc(called, func(l logLine) bool { return strings.HasPrefix(l.message, row.message) })
		if n < 0 {
			t.Errorf("nothing logs %q any more, but docs/observability.md lists it", row.message)
			continue
		}
		if have := called[n]; have.level != row.level || !slices.Equal(have.keys, row.keys) {
			t.Errorf("%q is logged as %s with %q; docs/observability.md says %s with %q", have.message, have.level, have.keys, row.level, row.keys)
		}
		called = slices.Delete(called, n, n+1)
	}
	for _, l := range called {
		t.Errorf("docs/observability.md doesn't list what is logged as %s: %q with %q", l.level, l.message, l.keys)
	}
}

// logCalls finds the calls of a logger's methods in the files of a package.
func logCalls(t *testing.T, dir string) (lines []logLine) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source in %s: %v", dir, err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isLogger(method.X) || slices.Contains([]string{"New", "Default", "With", "DiscardHandler"}, method.Sel.Name) {
				return true
			}
			line, err := readLogCall(method.Sel.Name, call.Args)
			if err != nil {
				t.Errorf("%s: %v; this test can't read that", set.Position(call.Pos()), err)
			}
			lines = append(lines, line)
			return true
		})
	}
	return lines
}

// isLogger reports whether an expression is a logger by its name, or the
// package slog.
func isLogger(x ast.Expr) bool {
	var name string
	switch x := x.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	return name == "slog" || strings.HasSuffix(strings.ToLower(name), "logger")
}

func readLogCall(method string, args []ast.Expr) (line logLine, err error) {
	if !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method) {
		return line, fmt.Errorf("a logger's %s", method)
	}
	if len(args)%2 == 0 {
		return line, fmt.Errorf("%d arguments after the message", len(args)-1)
	}
	line.level = method
	for n, arg := range args {
		if n > 0 && n%2 == 0 {
			continue // a value
		}
		literal, ok := arg.(*ast.BasicLit)
		if !ok {
			return line, fmt.Errorf("argument %d isn't written out", n)
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			return line, err
		}
		if n == 0 {
			line.message = text
		} else {
			line.keys = append(line.keys, text)
		}
	}
	return line, nil
}

// logTable reads the rows of the section "Logs".
func logTable(t *testing.T, file string) (rows []logLine) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Logs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range strings.Split(section, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 6 || strings.HasPrefix(row, "|--") || strings.HasPrefix(row, "| level") {
			continue
		}
		for n := range cells {
			cells[n] = strings.TrimSpace(cells[n])
		}
		rows = append(rows, logLine{level: cells[1], message: cells[2], keys: strings.Split(cells[3], ", ")})
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table of log lines", file)
	}
	return rows
}
