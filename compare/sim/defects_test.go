package sim

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"informer.example/compare/scenario"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

type (
	pod    = *corev1.Pod
	wrongs = scenario.Wrongs[pod]
	event  = informer.Event[pod]
	stream = reflector.Stream[pod]
)

// TestDefects plants defects, in what the informer is given by the wire, what it
// tells handlers, and what it indexes. Each must be found within so many seeds.
func TestDefects(t *testing.T) {
	tests := []struct {
		why    string
		within int
		wrongs wrongs
	}{
		{"a list that was cut is taken for a whole one", 100, ofSource(wrongSource{listed: func(meta reflector.ListMeta, newest string, err error) (reflector.ListMeta, error) {
			if err != nil && newest != "" {
				return reflector.ListMeta{ResourceVersion: newest}, nil
			}
			return meta, err
		}})},
		{"the last object of a page is lost", 100, ofSource(wrongSource{yields: func(n int) bool { return n != 3 }})},
		{"a watch loses its fourth event", 100, ofSource(wrongSource{next: func() func(stream) (reflector.Event[pod], error) {
			n := 0
			return func(s stream) (reflector.Event[pod], error) {
				if n++; n == 4 {
					_, _ = s.Next()
				}
				return s.Next()
			}
		}})},
		{"deletions are lost", 100, ofSource(wrongSource{next: func() func(stream) (reflector.Event[pod], error) {
			return func(s stream) (reflector.Event[pod], error) {
				e, err := s.Next()
				for err == nil && e.Type == reflector.Deleted {
					e, err = s.Next()
				}
				return e, err
			}
		}})},
		{"every other event overtakes the one before", 100, ofSource(wrongSource{next: swapped})},
		{"whatever ends a watch is taken for a clean end, a 410 too", 100, ofSource(wrongSource{next: func() func(stream) (reflector.Event[pod], error) {
			return func(s stream) (reflector.Event[pod], error) {
				e, err := s.Next()
				if err != nil {
					err = io.EOF
				}
				return e, err
			}
		}})},
		{"a 410 in place of an answer is taken for a bad network", 200, ofSource(wrongSource{refused: func(err error) error {
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				return errors.New("network")
			}
			return err
		}})},
		{"Retry-After isn't seen", 200, ofSource(wrongSource{refused: func(err error) error {
			if _, ok := apierrors.SuggestsClientDelay(err); ok || apierrors.IsTooManyRequests(err) {
				return errors.New("busy")
			}
			return err
		}})},
		{"a bookmark is taken for the version behind it", 100, ofSource(wrongSource{next: func() func(stream) (reflector.Event[pod], error) {
			return func(s stream) (reflector.Event[pod], error) {
				e, err := s.Next()
				if n, _ := strconv.Atoi(e.Item.ResourceVersion); err == nil && e.Type == reflector.Bookmark && n > 0 {
					e.Item.ResourceVersion = strconv.Itoa(n + 1)
				}
				return e, err
			}
		}})},
		{"the first event ends the initial state", 100, ofSource(wrongSource{next: earlyMarker})},
		{"something is started for each list and left running", 20, ofSource(wrongSource{yields: func(int) bool {
			go time.Sleep(30 * time.Minute)
			return true
		}})},
		{"a handler isn't told of every third deletion", 100, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			n := 0
			return func(e event) {
				if e.Type == informer.Deleted {
					if n++; n%3 == 0 {
						return
					}
				}
				next.HandleEvent(e)
			}
		})},
		{"a handler is told every fifth event twice", 100, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			n := 0
			return func(e event) {
				next.HandleEvent(e)
				if n++; n%5 == 0 {
					next.HandleEvent(e)
				}
			}
		})},
		{"a handler is told from a timer, not in its turn", 100, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			return func(e event) {
				time.AfterFunc(time.Millisecond, func() {
					defer func() { _ = recover() }() // the script's panics
					next.HandleEvent(e)
				})
			}
		})},
		{"an update's old object is not the one that the handler knows", 100, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			return func(e event) {
				if e.Type == informer.Updated {
					e.Old = e.Old.DeepCopy()
				}
				next.HandleEvent(e)
			}
		})},
		{"everything is told as initial", 100, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			return func(e event) { e.Initial = true; next.HandleEvent(e) }
		})},
		{"another object of the same name is told as an update", 200, ofHandler(func(next informer.EventHandler[pod]) func(event) {
			var gone *event
			return func(e event) {
				if gone != nil && e.Type == informer.Added && e.Key == gone.Key {
					e.Type, e.Old, e.OldResourceVersion = informer.Updated, gone.Old, gone.OldResourceVersion
					gone = nil
				}
				if gone != nil {
					next.HandleEvent(*gone)
				}
				if gone = nil; e.Type == informer.Deleted {
					gone = &e
					return
				}
				next.HandleEvent(e)
			}
		})},
		{"an index keeps the first value that an object had", 100, ofIndex(func(f indexer.IndexFunc[pod]) indexer.IndexFunc[pod] {
			had := map[string][]string{}
			return func(p pod) ([]string, error) {
				values, err := f(p)
				if before, ok := had[p.Name]; ok {
					return before, err
				}
				had[p.Name] = values
				return values, err
			}
		})},
		{"an index forgets every fourth version", 100, ofIndex(func(f indexer.IndexFunc[pod]) indexer.IndexFunc[pod] {
			return func(p pod) ([]string, error) {
				if n, _ := strconv.Atoi(p.ResourceVersion); n%4 == 0 {
					return nil, nil
				}
				return f(p)
			}
		})},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			setup := scenario.Setup{Wrongs: tt.wrongs}
			for seed := range tt.within {
				p := Generate(uint64(seed + 1))
				if slices.Contains(p.Server, "widgets") {
					continue // the defects are in informers of pods
				}
				f := Play(t, p, setup)
				if f == nil {
					continue
				}
				if f.Kind == "script" {
					t.Fatalf("seed %d: %v", seed+1, f)
				}
				small, f := Smallest(t, p, f, setup, 150)
				t.Logf("seed %d: %s; %d of %d lines", seed+1, f.Short(), small.Lines(), p.Lines())
				if len(small.Steps) > 8 {
					t.Errorf("seed %d: %d steps are left:\n%s", seed+1, len(small.Steps), small.Archive(f.Short()))
				}
				return
			}
			t.Errorf("not found in %d seeds", tt.within)
		})
	}
}

func ofSource(w wrongSource) wrongs {
	return wrongs{Source: func(next reflector.Source[pod]) reflector.Source[pod] {
		w.Source = next
		return w
	}}
}

func ofHandler(wrong func(informer.EventHandler[pod]) func(event)) wrongs {
	return wrongs{Handler: func(next informer.EventHandler[pod]) informer.EventHandler[pod] {
		return informer.HandlerFunc[pod](wrong(next))
	}}
}

func ofIndex(wrong func(indexer.IndexFunc[pod]) indexer.IndexFunc[pod]) wrongs {
	return wrongs{Index: wrong}
}

// wrongSource is a source with a defect; what is nil is right.
type wrongSource struct {
	reflector.Source[pod]
	yields  func(n int) bool // is the nth item of a page seen?
	listed  func(meta reflector.ListMeta, newest string, err error) (reflector.ListMeta, error)
	refused func(error) error
	next    func() func(stream) (reflector.Event[pod], error) // one for each stream
}

func (w wrongSource) List(ctx context.Context, opts reflector.ListOptions, yield func(object.Item[pod]) error) (reflector.ListMeta, error) {
	n, newest := 0, ""
	meta, err := w.Source.List(ctx, opts, func(it object.Item[pod]) error {
		n++
		newest = it.ResourceVersion
		if w.yields != nil && !w.yields(n) {
			return nil
		}
		return yield(it)
	})
	if err != nil && w.refused != nil {
		err = w.refused(err)
	}
	if w.listed != nil {
		return w.listed(meta, newest, err)
	}
	return meta, err
}

func (w wrongSource) Watch(ctx context.Context, opts reflector.WatchOptions) (stream, error) {
	s, err := w.Source.Watch(ctx, opts)
	if err != nil {
		if w.refused != nil {
			err = w.refused(err)
		}
		return nil, err
	}
	if w.next == nil {
		return s, nil
	}
	return wrongStream{s, w.next()}, nil
}

type wrongStream struct {
	stream
	next func(stream) (reflector.Event[pod], error)
}

func (s wrongStream) Next() (reflector.Event[pod], error) { return s.next(s.stream) }

// swapped gives events two by two, the later one first.
func swapped() func(stream) (reflector.Event[pod], error) {
	var held *reflector.Event[pod]
	return func(s stream) (reflector.Event[pod], error) {
		if held != nil {
			e := *held
			held = nil
			return e, nil
		}
		e, err := s.Next()
		if err != nil || e.Type == reflector.Bookmark {
			return e, err
		}
		later, err := s.Next()
		if err != nil {
			return e, nil // the error comes again
		}
		held = &e
		return later, nil
	}
}

// earlyMarker says after the first object that the initial state is complete.
func earlyMarker() func(stream) (reflector.Event[pod], error) {
	var rv string
	n := 0
	return func(s stream) (reflector.Event[pod], error) {
		if n++; n == 2 && rv != "" {
			e := reflector.Event[pod]{Type: reflector.Bookmark, InitialEventsEnd: true}
			e.Item.ResourceVersion = rv
			return e, nil
		}
		e, err := s.Next()
		if err == nil && e.Type == reflector.Added {
			rv = e.Item.ResourceVersion
		}
		return e, err
	}
}
