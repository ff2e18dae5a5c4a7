package indexer

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// A slice that an index function returned stays what it was, whoever asks the
// function next, and an append to it touches no other.
func TestSimpleIndexAnswersDoNotTouchEachOther(t *testing.T) {
	f := SimpleIndex(func(o *obj) string { return o.IP })
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			var got [][]string
			for i := range 1000 {
				vals, err := f(&obj{IP: fmt.Sprint(n, i)})
				if err != nil {
					t.Error(err)
				}
				got = append(got, vals)
				_ = append(vals, "appended")
			}
			for i, vals := range got {
				if want := []string{fmt.Sprint(n, i)}; !slices.Equal(vals, want) {
					t.Errorf("%q turned into %q", want, vals)
					return
				}
			}
		})
	}
	group.Wait()
}
