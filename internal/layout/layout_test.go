package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "informer.example"
	clientGo = "k8s.io/client-go"
)

// TestImports reads every Go file of the module, whatever its build tags, and
// holds its imports against the rules.
func TestImports(t *testing.T) {
	checked := 0
	for _, file := range goFiles(t, "../..") {
		rule, ok := ruleFor(Rules(), path.Dir(file))
		if !ok {
			t.Errorf("%s: no rule covers this folder: add one to Rules", file)
			continue
		}
		for _, imported := range importsOf(t, filepath.Join("../..", file)) {
			checked++
			if why := violation(rule, file, imported); why != "" {
				t.Errorf("%s imports %s: %s", file, imported, why)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no import was checked: is the test looking at the module's root?")
	}
}

// TestEachPackageIsIntroduced: a package says in its doc.go what it is.
func TestEachPackageIsIntroduced(t *testing.T) {
	folders := make(map[string]bool)
	for _, file := range goFiles(t, "../..") {
		if !strings.HasSuffix(file, "_test.go") {
			folders[path.Dir(file)] = true
		}
	}
	for folder := range folders {
		if strings.HasPrefix(folder, "cmd/") || strings.HasPrefix(folder, "docs/") {
			continue // a program's main.go is its introduction
		}
		if _, err := os.Stat(filepath.Join("../..", folder, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go", folder)
		}
	}
}

func TestViolation(t *testing.T) {
	rules := Rules()
	tests := []struct {
		file, imported string
		broken         bool
		why            string
	}{
		{"indexer/tree.go", module + "/object", false, "named in the rule"},
		{"indexer/tree.go", module + "/indexer/internal/x", false, "a package's own inner packages"},
		{"indexer/tree.go", module + "/reflector", true, "data flows the other way"},
		{"indexer/tree.go", clientGo + "/tools/cache", true, "the peer"},
		{"reflector/source.go", clientGo + "/rest", false, "auth and TLS come from there"},
		{"reflector/source.go", clientGo + "/tools/cache", true, "only rest"},
		{"reflector/source.go", module + "/apisim", true, "not in the code itself"},
		{"reflector/source_test.go", module + "/apisim", false, "but in its tests"},
		{"apisim/server.go", module + "/object", true, "knows none of ours"},
		{"compare/report.go", clientGo + "/tools/cache", false, "everything"},
	}
	for _, tt := range tests {
		rule, ok := ruleFor(rules, path.Dir(tt.file))
		if !ok {
			t.Fatalf("no rule for %s", tt.file)
		}
		if got := violation(rule, tt.file, tt.imported); (got != "") != tt.broken {
			t.Errorf("%s imports %s: broken = %v, want %v: %s", tt.file, tt.imported, got != "", tt.broken, tt.why)
		}
	}
}

// goFiles lists the module's Go files, by path below its root. Nested modules
// and test data are left out.
func goFiles(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if d.IsDir() {
			if rel == "." {
				return nil
			}
			if name := d.Name(); strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(p, ".go") {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", file, spec.Path.Value, err)
		}
		out = append(out, p)
	}
	return out
}

func ruleFor(rules []Rule, folder string) (Rule, bool) {
	var best Rule
	for _, r := range rules {
		if within(folder, r.Folder) && len(r.Folder) > len(best.Folder) {
			best = r
		}
	}
	return best, best.Folder != ""
}

// violation says why file may not import a package, or "".
func violation(rule Rule, file, imported string) string {
	if rest, ok := below(imported, module); ok {
		allowed := append([]string{rule.Folder}, rule.Own...)
		if strings.HasSuffix(file, "_test.go") {
			allowed = append(allowed, rule.OwnInTests...)
		}
		if !permits(allowed, rest) {
			return rule.Why
		}
	}
	if rest, ok := below(imported, clientGo); ok && !permits(rule.ClientGo, rest) {
		return rule.Why
	}
	return ""
}

func permits(allowed []string, folder string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool { return a == "*" || within(folder, a) })
}

// below returns what is left of an import path after the module it is in.
func below(imported, module string) (string, bool) {
	rest, ok := strings.CutPrefix(imported, module)
	return strings.TrimPrefix(rest, "/"), ok && (rest == "" || rest[0] == '/')
}

func within(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}
