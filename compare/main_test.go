package compare

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays the children of Run.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ChildArgument {
		os.Exit(ChildMain())
	}
	// The race detector sleeps a second before each exit, longer than a child may.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}
