package pipeline

import (
	"fmt"
	"testing"

	"informer.example/informer"
)

func TestListThenWatch(t *testing.T) { // P1, P2, P3, P6
	t.Parallel()
	f := newFleet(t)
	f.create("a", 12)
	f.start()
	f.settle()
	f.checkTold(informer.FromList, f.written())

	f.create("b", 3)
	f.write(func(w *writer) {
		for i := range 6 {
			w.touch(fmt.Sprintf("a-%02d", i))
			w.touch("b-01")
		}
		w.remove("a-03")
		w.remove("b-02")
		w.create("b-02") // the same name, another object
		w.remove("a-11")
	})
	f.settle()
	f.checkTold(informer.FromWatch, f.written())
	f.checkCaches()
	for _, s := range f.followers {
		if status := s.status(); status.Lists != 1 || status.Watches != 1 || len(status.Relists) != 0 || status.Quarantined != 0 {
			t.Errorf("%s: %+v; want one list, one watch and no object that can't be read", s.title(), status)
		}
	}
	f.stop()
}

// A broken connection loses nothing while the server still has the history.
func TestResumeAfterCut(t *testing.T) { // P1, P2, P3
	t.Parallel()
	f := newFleet(t)
	f.create("a", 4)
	f.start()
	f.settle()
	f.written()
	for _, s := range f.followers {
		s.take()
		s.gate().Cut()
	}
	f.write(func(w *writer) {
		w.touch("a-00")
		w.touch("a-00")
		w.remove("a-01")
		w.create("b-00")
	})
	for _, s := range f.followers {
		s.gate().Mend()
	}
	f.settle()
	f.checkTold(informer.FromWatch, f.written())
	f.checkCaches()
	for _, s := range f.followers {
		if status := s.status(); status.Lists != 1 || len(status.Relists) != 0 {
			t.Errorf("%s: %+v; want no second list", s.title(), status)
		}
	}
	f.stop()
}
