package usage

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

func TestParseVmHWM(t *testing.T) {
	for _, tt := range []struct {
		why    string
		status string
		want   int64
		ok     bool
	}{
		{"the kernel's form", "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n", 2048 * 1024, true},
		{"last line without a newline", "VmHWM:\t7 kB", 7 * 1024, true},
		{"a kernel thread has no such line", "Name:\tkthreadd\n", 0, false},
		{"an unknown unit is not guessed", "VmHWM:\t7 MB\n", 0, false},
		{"not a number", "VmHWM:\tx kB\n", 0, false},
		{"zero is no measurement (U1)", "VmHWM:\t0 kB\n", 0, false},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, ok := parseVmHWM([]byte(tt.status))
			if got != tt.want || ok != tt.ok {
				t.Fatalf("got %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

const childEnv = "USAGE_TEST_PRINT_PEAK"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		peak, _ := PeakRSS()
		os.Stdout.WriteString(strconv.FormatInt(peak, 10))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// U2: the peak of a process that has grown is not passed on to its child.
func TestU2PeakIsNotInherited(t *testing.T) {
	const grown = 96 << 20
	block := make([]byte, grown)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.ParseInt(string(out), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if child <= 0 || child >= grown {
		t.Fatalf("the child's peak is %d bytes; its parent's %d went into it", child, grown)
	}
	if block[0] != 1 { // keep the block alive across exec
		t.Fatal("unreachable")
	}
	t.Logf("child: %d bytes by VmHWM, %d by ru_maxrss", child, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss*1024)
}
