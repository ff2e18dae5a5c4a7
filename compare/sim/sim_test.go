package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"informer.example/compare/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	seeds = flag.Int("seeds", 500, "so many seeds are played")
	first = flag.Uint64("seed", 1, "the first of them")
	out   = flag.String("out", os.TempDir(), "where the scenarios of failing seeds are written")
)

// shrinking is how many programs may be played to shorten one.
const shrinking = 500

// TestSimulation plays the programs of many seeds.
func TestSimulation(t *testing.T) {
	const parts = 16 // a subtest for each seed would cost as much as the seed
	for part := range parts {
		t.Run(fmt.Sprint("part=", part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < *seeds; i += parts {
				p := Generate(*first + uint64(i))
				if f := Play(t, p, scenario.Setup{}); f != nil {
					report(t, p, f)
				}
			}
		})
	}
}

// report shortens a program that failed, and writes it as a scenario.
func report(t *testing.T, p Program, f *Failure) {
	t.Helper()
	small, f := Smallest(t, p, f, scenario.Setup{}, shrinking)
	archive := small.Archive(f.Story(p.Seed))
	file := filepath.Join(*out, fmt.Sprintf("S%d_%s.txtar", p.Seed, strings.ToLower(f.Kind)))
	if err := os.WriteFile(file, archive, 0o644); err != nil {
		t.Error(err)
	}
	t.Errorf("seed %d: %s\n%d lines are left of %d:\n%s\nthe seed again:     go test ./compare/sim -seed %d -seeds 1\nthe scenario again: go test ./compare/scenario -run TestFile -file %s",
		p.Seed, f.Short(), small.Lines(), p.Lines(), archive, p.Seed, file)
}

// TestDeterministic says how much of a seed is the same each time: whether it
// fails, and of nearly all seeds everything that a client asks for, to the
// nanosecond. Where two goroutines are awake at once, the order of their steps
// is chance.
func TestDeterministic(t *testing.T) {
	const n = 60
	same := 0
	for seed := range uint64(n) {
		var logs [2]string
		for i := range logs {
			var mu sync.Mutex
			var lines []string
			f := Play(t, Generate(seed+1), scenario.Setup{Log: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(line, " h") { // a handler's pace is its own
					lines = append(lines, line)
				}
			}})
			if f != nil {
				t.Errorf("seed %d: %v", seed+1, f)
			}
			logs[i] = strings.Join(lines, "\n")
		}
		if logs[0] == logs[1] {
			same++
		}
	}
	t.Logf("%d of %d seeds went the same way twice", same, n)
	if same < n/4 { // the race detector shakes the order, and so does a busy machine
		t.Errorf("only %d of %d seeds went the same way twice", same, n)
	}
}

// TestFaults: no fault of the wire contract is left out of the programs that CI
// plays.
func TestFaults(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(500) {
		for _, id := range Generate(seed + 1).Faults {
			met[id]++
		}
	}
	for n := range 55 {
		if id := fmt.Sprint("F", n+1); met[id] < 3 {
			t.Errorf("%s is in %d of 500 programs", id, met[id])
		}
	}
}

// TestGenerate: a seed is a program, and only that one; each can be read.
func TestGenerate(t *testing.T) {
	for seed := range uint64(300) {
		p := Generate(seed)
		if again := Generate(seed); string(again.Archive("")) != string(p.Archive("")) {
			t.Fatalf("seed %d gives two programs", seed)
		}
		if _, err := scenario.Parse("S_x.txtar", p.Archive("A story.")); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
