package scenario

import (
	"bytes"
	"runtime"
)

// goroutines counts those of the caller's synctest bubble, once all of them wait.
// The process has others. It is 0 outside of a bubble.
func goroutines(settle func()) int {
	settle()
	dump := make([]byte, 1<<16)
	for n := runtime.Stack(dump, true); ; n = runtime.Stack(dump, true) {
		if n < len(dump) {
			dump = dump[:n]
			break
		}
		dump = make([]byte, 2*len(dump))
	}
	// The caller comes first: "goroutine 8 [running, synctest bubble 1]:".
	first, _, _ := bytes.Cut(dump, []byte("\n"))
	_, mark, found := bytes.Cut(first, []byte("synctest bubble "))
	if !found {
		return 0
	}
	mark = append([]byte("synctest bubble "), mark...) // with its "]:", so that 1 is not 10
	return bytes.Count(dump, mark)
}
