package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"informer.example/compare"
)

// On a terminal there is one line, drawn again and again, and none in the end.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, terminal: true, start: time.Now().Add(-time.Minute), total: 2 * time.Minute}
	p.show(compare.Progress{Subject: "ours", Number: 2, Of: 3, Phase: compare.Writing, Elapsed: 7 * time.Second, Expected: 15 * time.Second})
	if got, want := out.String(), clearLine+"[############------------] 2/3 ours: writing 7 of 15 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.total = time.Second // it takes longer than expected
	p.show(compare.Progress{Phase: compare.Cleaning})
	if !strings.HasSuffix(out.String(), "[########################] "+string(compare.Cleaning)) {
		t.Errorf("got %q; want a full bar", out.String())
	}
	p.done()
	if !strings.HasSuffix(out.String(), clearLine) || strings.Contains(out.String(), "\n") {
		t.Errorf("got %q; want the line taken away", out.String())
	}
}
