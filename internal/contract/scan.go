package contract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tests maps an id to the tests that are named by it, sorted.
type tests map[string][]string

func (t tests) add(name, test string) {
	for _, id := range idsOf(name) {
		if !slices.Contains(t[id], test) {
			t[id] = append(t[id], test)
		}
	}
}

// ownNumbers lists the folders whose tests are named by promises of their own
// doc.go, with the letters that are meant so.
func ownNumbers() map[string]string {
	return map[string]string{
		"indexer": "S", // promises of the store
	}
}

// scan finds all tests that are named by ids below root, in every module there.
func scan(root string) (tests, error) {
	found := make(tests)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		folder, file := path.Split(rel)
		folder = strings.TrimSuffix(folder, "/")
		switch {
		case d.IsDir():
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || rel == "internal/contract") {
				return filepath.SkipDir
			}
		case folder == "testdata/scenarios" && strings.HasSuffix(file, ".txtar"):
			found.add(strings.TrimSuffix(file, ".txtar"), rel)
		case strings.HasSuffix(file, "_test.go"), folder == "apisim/apitest" && strings.HasSuffix(file, ".go"):
			return found.scanFile(p, folder)
		}
		return nil
	})
	for _, all := range found {
		slices.Sort(all)
	}
	return found, err
}

// scanFile adds the tests and the names of subtests in one file.
func (t tests) scanFile(file, folder string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	own := ownNumbers()[folder]
	for _, d := range parsed.Decls {
		test := ""
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			if name, ok := strings.CutPrefix(f.Name.Name, "Test"); ok {
				test = f.Name.Name
				if own == "" || !strings.HasPrefix(name, own) {
					t.add(name, folder+"."+test)
				}
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if name, err := strconv.Unquote(lit.Value); err == nil && (own == "" || !strings.HasPrefix(name, own)) {
					t.add(name, subtest(folder, test, name))
				}
			}
			return true
		})
	}
	return nil
}

// subtest is the name of a subtest; test may be unknown, when a helper has it.
func subtest(folder, test, name string) string {
	if test == "" {
		return folder + ": " + name
	}
	return folder + "." + test + "/" + name
}
