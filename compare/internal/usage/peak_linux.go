package usage

import (
	"bytes"
	"os"
	"strconv"
)

// PeakRSS returns the highest resident memory of the process so far, in bytes.
// ok is false where the operating system can't tell.
//
// It reads VmHWM, which belongs to the address space. ru_maxrss survives exec
// and starts at the parent's peak (U2).
func PeakRSS() (peak int64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	return parseVmHWM(status)
}

// parseVmHWM finds the line "VmHWM:     1234 kB".
func parseVmHWM(status []byte) (int64, bool) {
	for line := range bytes.Lines(status) {
		value, found := bytes.CutPrefix(line, []byte("VmHWM:"))
		if !found {
			continue
		}
		kib, found := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
		if !found {
			return 0, false
		}
		n, err := strconv.ParseInt(string(kib), 10, 64)
		if err != nil || n <= 0 {
			return 0, false
		}
		return n * 1024, true
	}
	return 0, false
}
