//go:build !linux && !darwin

package usage

import "time"

// CPU is unknown on this operating system.
func CPU() (used time.Duration, ok bool) { return 0, false }

// PeakRSS is unknown on this operating system.
func PeakRSS() (peak int64, ok bool) { return 0, false }
