package contract

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var updating = flag.Bool("update", false, "write the tests that were found into docs/contract.md")

const document = "../../docs/contract.md"

// untested lists the ids that have no test, each with the reason.
func untested() map[string]string {
	return map[string]string{}
}

func TestDocumentIsComplete(t *testing.T) {
	found, err := scan("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if *updating {
		text = []byte(update(string(text), found))
		if err := os.WriteFile(document, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := rows(string(text))
	var listed []string
	for _, r := range all {
		listed = append(listed, r.id)
		if rule := strings.TrimSpace(r.rule); len(rule) < 10 || len(rule) > 300 {
			t.Errorf("%s: the rule has %d characters", r.id, len(rule))
		}
		if want := cell(found[r.id]); r.tests != want {
			t.Errorf("%s: the tests have changed; run go test ./internal/contract -update\nlisted %s\nfound  %s", r.id, r.tests, want)
		}
		why, missing := untested()[r.id]
		switch {
		case len(found[r.id]) == 0 && !missing:
			t.Errorf("%s has no test", r.id)
		case len(found[r.id]) > 0 && missing:
			t.Errorf("%s is said to have no test (%s), but has %v", r.id, why, found[r.id])
		}
	}
	if !slices.Equal(listed, ids()) {
		t.Errorf("the document lists\n%v\nwant\n%v", listed, ids())
	}
	for id, names := range found {
		if !slices.Contains(listed, id) {
			t.Errorf("%v are named by %s, which is no id of the contract", names, id)
		}
	}
}

func TestIDsOf(t *testing.T) {
	for _, tt := range []struct{ name, want, why string }{
		{"F23_ListCut", "F23", "the usual form"},
		{"F06_ListCut", "F6", "zeros are for sorting"},
		{"F12_F18_Waits", "F12 F18", "several ids"},
		{"F23_list_cut_inside_item", "F23", "a scenario's file"},
		{"ListCut", "", "not named by an id"},
		{"F23", "", "an id is no name"},
		{"X1_Other", "", "not a letter of the contract"},
		{"F23_List cut", "", "a sentence, not a name"},
		{"UTF8_Text", "", "the letter must come first"},
	} {
		if got := strings.Join(idsOf(tt.name), " "); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", tt.name, got, tt.want, tt.why)
		}
	}
}

func TestScanFindsAllKinds(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a_test.go":                      "package a\nfunc TestF1_Refused(t *testing.T) { t.Run(\"F2_Silent\", nil); t.Run(\"other\", nil) }\nfunc helper() string { return \"F3_Helped\" }\n",
		"a/a.go":                           "package a\nconst notATest = \"F4_Code\"\n",
		"apisim/apitest/list.go":           "package apitest\nvar c = clause{id: \"K5_ListMatrix\"}\n",
		"indexer/i_test.go":                "package indexer\nfunc TestS1_Own(t *testing.T) {}\nfunc TestI9_Shared(t *testing.T) {}\n",
		"testdata/scenarios/F7_away.txtar": "",
		".hidden/h_test.go":                "package h\nfunc TestF8_Hidden(t *testing.T) {}\n",
		"nested/go.mod":                    "module nested\n",
		"nested/n_test.go":                 "package n\nfunc TestF9_Nested(t *testing.T) {}\n",
	} {
		path := root + "/" + name
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"F1": "a.TestF1_Refused",
		"F2": "a.TestF1_Refused/F2_Silent",
		"F3": "a: F3_Helped",
		"F7": "testdata/scenarios/F7_away.txtar",
		"F9": "nested.TestF9_Nested",
		"I9": "indexer.TestI9_Shared",
		"K5": "apisim/apitest: K5_ListMatrix",
	}
	for id, names := range found {
		if got := strings.Join(names, ","); got != want[id] {
			t.Errorf("%s: %s, want %s", id, got, want[id])
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
