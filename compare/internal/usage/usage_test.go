//go:build linux || darwin

package usage

import (
	"testing"
	"time"
)

func TestCPUGrowsWithWork(t *testing.T) {
	before, ok := CPU()
	if !ok {
		t.Fatal("CPU is unknown on an operating system that tells it")
	}
	// Work until the figure moves; a clock would measure the machine's load.
	for n := uint64(1); ; n++ {
		for range 1_000_000 {
			n = n*6364136223846793005 + 1442695040888963407
		}
		after, _ := CPU()
		if after > before {
			if grown := after - before; grown > time.Minute {
				t.Fatalf("CPU grew by %v for a moment's work", grown)
			}
			return
		}
	}
}

func TestPeakRSSIsPlausible(t *testing.T) {
	peak, ok := PeakRSS()
	if !ok {
		t.Fatal("PeakRSS is unknown on an operating system that tells it")
	}
	if peak < 1<<20 || peak > 8<<30 {
		t.Fatalf("PeakRSS = %d bytes: the unit is wrong", peak)
	}
}
