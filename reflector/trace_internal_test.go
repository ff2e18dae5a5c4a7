package reflector

import (
	"context"
	"testing"
	"time"

	"informer.example/object"
)

// Without a Trace, what is asked and told on the way of an object allocates
// nothing.
func TestTraceCostsNothingUnlessAsked(t *testing.T) {
	var none *tracer
	ctx := context.Background()
	steps := map[string]func(){
		"is there one": func() { _ = ContextTrace(ctx) },
		"an object": func() {
			at := none.received(Added, 10)
			none.decoded(Added, 10, at, object.Key{Name: "a"}, "u", "1", false, nil)
		},
		"the end": func() { none.answered(nil, nil); none.ended(nil) },
	}
	for name, step := range steps {
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if at := none.received(Added, 10); at != (time.Time{}) {
		t.Error("the clock was asked although nobody wants to know")
	}
	some := &tracer{hooks: &Trace{Decoded: func(DecodedInfo) {}}}
	if at := some.received(Added, 10); at.IsZero() {
		t.Error("the clock wasn't asked")
	}
}
