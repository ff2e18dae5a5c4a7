//go:build linux || darwin

package usage

import (
	"syscall"
	"time"
)

// CPU returns the user and system time that the process has used so far.
// ok is false where the operating system can't tell.
func CPU() (used time.Duration, ok bool) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0, false
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), true
}
