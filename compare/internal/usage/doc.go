// Package usage asks the operating system what the calling process has cost:
// CPU time and the peak of its resident memory.
//
//	operating system ──▶ CPU(), PeakRSS() ──▶ figure, or "unknown"
//
// # Promises
//
//   - U1 A figure that the operating system does not give is reported as
//     unknown, never as zero.
//   - U2 PeakRSS is that of this program alone. On Linux, ru_maxrss is not: a
//     process starts with the peak of the one that started it.
//
// # Not promised
//
// CPU time counts every thread, the garbage collector's included, and has the
// resolution of the kernel's accounting. Resident memory counts pages of the
// program's own text too.
package usage
