package scenario

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"informer.example/informer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const folder = "../../testdata/scenarios"

var file = flag.String("file", "", "one scenario from elsewhere, for TestFile")

// TestFile plays one scenario from elsewhere.
func TestFile(t *testing.T) {
	if *file == "" {
		t.Skip("no -file")
	}
	data, err := os.ReadFile(*file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(*file, data)
	if err != nil {
		t.Fatal(err)
	}
	play(t, s)
}

// TestScenarios plays each scenario with both queues and both encodings.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(folder + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario in %s: %v", folder, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(file, data)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if s.Pending != "" {
				t.Skip("pending: " + s.Pending)
			}
			play(t, s)
		})
	}
}

// play plays a scenario with both queues and both encodings, but for what it
// chooses itself.
func play(t *testing.T, s *Scenario) {
	for _, queue := range []informer.QueueKind{informer.InOrder, informer.DeltaFIFO} {
		for name, enc := range encodings {
			if s.client.queue != nil && *s.client.queue != queue || s.client.encoding != "" && s.client.encoding != name {
				continue
			}
			t.Run(queue.String()+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if err := Run(t.Context(), s, Setup{Queue: queue, Encoding: enc, Settle: synctest.Wait}); err != nil {
						t.Errorf("%s\n%v", s.Story, err)
					}
				})
			})
		}
	}
}

func TestParse_Errors(t *testing.T) {
	const head = "-- story --\nA story.\n"
	tests := []struct{ why, data, want string }{
		{"a verb", head + "-- script --\njump 3\n-- expect --\n", `x.txtar:4: jump 3: verb "jump" is unknown`},
		{"a number", head + "-- script --\ncreate many\n-- expect --\n", `x.txtar:4: create many: "many" is no number`},
		{"a word too many", head + "-- script --\ncreate 3 together\n-- expect --\n", `"together" is no word here`},
		{"a missing word", head + "-- script --\nadvance\n-- expect --\n", `x.txtar:4: advance: word 2 is missing`},
		{"an effect", head + "-- script --\nfault list : melt\n-- expect --\n", `effect "melt" is unknown`},
		{"a fault without an effect", head + "-- script --\nfault list\n-- expect --\n", `a fault is KIND [WHICH] : EFFECT`},
		{"which request", head + "-- script --\nfault list every=2 : break\n-- expect --\n", `"every=2" is unknown`},
		{"an expectation", head + "-- script --\nsync\n-- expect --\nspeed == 3\n", `x.txtar:6: speed == 3: "speed" can't be expected`},
		{"an operator", head + "-- script --\nsync\n-- expect --\nlists < 3\n", `"<" is none of ==, <=, >=`},
		{"a section", head + "-- plot --\nx\n", `section "plot" is unknown`},
		{"no script", head + "-- expect --\n", `section "script" is missing`},
		{"a section twice", head + head, `section "story" is there twice`},
	}
	for _, tt := range tests {
		_, err := Parse("some/x.txtar", []byte(tt.data))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
}

// N3: a scenario can fail, and says where.
func TestRun_Unmet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Parse("x.txtar", []byte("-- story --\nA story.\n-- script --\nsync\ncreate 2\n-- expect --\nobjects == 12\nobjects == 13\n"))
		if err != nil {
			t.Fatal(err)
		}
		err = Run(t.Context(), s, Setup{Settle: synctest.Wait})
		if err == nil || err.Error() != "x.txtar:8: objects is 12" {
			t.Errorf("%v", err)
		}
	})
}
