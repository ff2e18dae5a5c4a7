package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// smallRun takes about a second for each subject.
const smallRun = "compare --objects 30 --rate 50 --duration 500ms --poll-interval 100ms"

func TestCompareJSON(t *testing.T) {
	got := execute(t.Context(), strings.Fields(smallRun+" --json --subjects ours,naive --encoding json")...)
	if got.code != exitDone {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	var result struct {
		Config      map[string]any
		Environment map[string]any
		Subjects    []map[string]any
	}
	if err := json.Unmarshal([]byte(got.stdout), &result); err != nil {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	want := []string{"bytesReceived", "converged", "cpuSeconds", "missedStates", "name", "peakRSSBytes", "requests", "stalenessP50Ms", "stalenessP99Ms"}
	for i, name := range []string{"ours", "naive"} {
		s := result.Subjects[i]
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s))); diff != "" || s["name"] != name || s["converged"] != true {
			t.Errorf("%v (-want +got):\n%s", s, diff)
		}
	}
	if result.Config["encoding"] != "json" || result.Config["writes"] != 25.0 || result.Environment["go"] == "" {
		t.Errorf("config %v, environment %v", result.Config, result.Environment)
	}
}

func TestCompareText(t *testing.T) {
	got := execute(t.Context(), strings.Fields(smallRun+" --subjects client-go")...)
	if got.code != exitDone {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	for _, want := range []string{"subject", "client-go", "yes"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, got.stdout)
		}
	}
	// No terminal: a line for each phase, after how long it will take.
	wantLines := []string{"about ", "filling", "first sync", "writing", "settling"}
	said := lines(got.stderr)
	if len(said) != len(wantLines) {
		t.Fatalf("progress: %q", said)
	}
	for i, want := range wantLines {
		if !strings.Contains(said[i], want) {
			t.Errorf("line %d of the progress is %q; want %q in it", i, said[i], want)
		}
	}
}
