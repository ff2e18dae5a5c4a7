package usage

import "syscall"

// PeakRSS returns the highest resident memory of the process so far, in bytes.
// ok is false where the operating system can't tell.
func PeakRSS() (peak int64, ok bool) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil || ru.Maxrss <= 0 {
		return 0, false
	}
	return ru.Maxrss, true // bytes here, KiB on Linux
}
