package contract

import (
	"bytes"
	"runtime"
	"testing/synctest"
)

// bubbled returns the stacks of the goroutines of the caller's synctest bubble,
// once all of them wait. The process has others: finalizers, timers.
func bubbled() []string {
	synctest.Wait()
	dump := make([]byte, 1<<18)
	for {
		n := runtime.Stack(dump, true)
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
		return nil
	}
	mark = append([]byte("synctest bubble "), mark...) // with its "]:", so that 1 is not 10
	var stacks []string
	for _, s := range bytes.Split(dump, []byte("\n\n")) {
		if head, _, _ := bytes.Cut(s, []byte("\n")); bytes.Contains(head, mark) {
			stacks = append(stacks, string(s))
		}
	}
	return stacks
}
