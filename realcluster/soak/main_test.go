package soak

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	lasts    = flag.Duration("soak", 45*time.Second, "how long the server is shaken")
	podCount = flag.Int("pods", 2000, "how many pods there are")
	rate     = flag.Float64("rate", 100, "how many writes a second")
	seed     = flag.Uint64("seed", 1, "chooses writes and faults")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "after the last test:", err)
		code = 1
	}
	os.Exit(code)
}
