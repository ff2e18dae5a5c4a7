package naive

import (
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/informer"
	"informer.example/reflector"
)

// Each loss of the bare watch, with what the server still knew beside it.
func TestBareWatchLoses(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		outage    func(*server)
		server    []string // what a watch from the last version seen would have had
		want      []string // what the handler was told instead
		ghosts    []string // held afterwards, though it doesn't exist
	}{
		{
			name: "B1 a deletion", why: "nothing that comes later speaks of it",
			outage: func(s *server) { s.delete("a") },
			server: []string{"DELETED a"},
			want:   []string{"ADDED b ->1"},
			ghosts: []string{"default/a@101"},
		},
		{
			name: "B2 an update", why: "comes as another addition, without what was before",
			outage: func(s *server) { s.write("a", "2") },
			server: []string{"MODIFIED a"},
			want:   []string{"ADDED a ->2", "ADDED b ->1"},
		},
		{
			name: "B3 a short life", why: "the watch asks for what is, not for what happened",
			outage: func(s *server) { s.write("c", "1"); s.delete("c") },
			server: []string{"ADDED c", "DELETED c"},
			want:   []string{"ADDED a ->1", "ADDED b ->1"},
		},
		{
			name: "B4 another object of the same name", why: "the first one's end is never told",
			outage: func(s *server) { s.delete("a"); s.write("a", "2") },
			server: []string{"DELETED a", "ADDED a"},
			want:   []string{"ADDED a ->2", "ADDED b ->1"},
		},
		{
			name: "B6 nothing at all", why: "everything is sent and handled again",
			outage: func(*server) {},
			want:   []string{"ADDED a ->1", "ADDED b ->1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				s.write("a", "1") // version 101
				s.write("b", "1")
				handler := &recorder{}
				w := NewBareWatch(s.source, handler, time.Second)
				run := start(t, w.Run)
				synctest.Wait()
				expect(t, "at first", []string{"ADDED a ->1", "ADDED b ->1"}, handler.told())
				seen := s.ResourceVersion()

				s.CloseWatches()
				synctest.Wait()
				tc.outage(s)
				expect(t, "what the server knew", tc.server, history(t, s, seen))
				time.Sleep(time.Second)
				synctest.Wait()

				expect(t, tc.why, tc.want, handler.told())
				held := names(w.List())
				for _, ghost := range tc.ghosts {
					if !slices.Contains(held, ghost) {
						t.Errorf("%s isn't held: the loss is mended, and so must be its description", ghost)
					}
					held = slices.DeleteFunc(held, func(s string) bool { return s == ghost })
				}
				expect(t, "held, ghosts aside", s.exists(), held)
				if opened, err := w.Watches(); opened != 2 || !errors.Is(err, io.EOF) {
					t.Errorf("%d watches, the first ended by %v; want 2, io.EOF", opened, err)
				}
				run.stop()
			})
		})
	}
}

// history returns what a watch from the version on gets.
func history(t *testing.T, s *server, rv string) []string {
	t.Helper()
	stream, err := s.source.Watch(t.Context(), reflector.WatchOptions{ResourceVersion: rv, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var out []string
	for {
		ev, err := stream.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != reflector.Bookmark {
			out = append(out, ev.Type.String()+" "+ev.Item.Key.Name)
		}
	}
}

// B5: neither the map nor the events tell the first picture from what follows.
func TestBareWatchNeverSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.write("a", "1")
		s.write("b", "1")
		var w *BareWatch[configMap]
		var held []int
		handler := &recorder{}
		w = NewBareWatch(s.source, informer.HandlerFunc[configMap](func(e informer.Event[configMap]) {
			held = append(held, len(w.List()))
			handler.HandleEvent(e)
		}), 0)
		if len(w.List()) != 0 {
			t.Error("something is held before Run")
		}
		run := start(t, w.Run)
		synctest.Wait()
		s.write("c", "1")
		synctest.Wait()

		if want := []int{1, 2, 3}; !slices.Equal(held, want) {
			t.Errorf("held during the events: %v, want %v: half of the picture looks like all of it", held, want)
		}
		first, later := handler.events[0], handler.events[2]
		if first.Type != later.Type || first.Source != later.Source || first.Initial || later.Initial {
			t.Errorf("an event of the first picture can be told from a later one:\n%+v\n%+v", first, later)
		}
		run.stop()
	})
}

// While its watch is open it is right; that is what makes it tempting.
func TestBareWatchWhileOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		handler := &recorder{}
		w := NewBareWatch(s.source, handler, 0)
		run := start(t, w.Run)
		synctest.Wait()
		s.write("a", "1")
		s.write("a", "2")
		s.delete("a")
		s.write("a", "3")
		s.write("b", "1")
		s.delete("b")
		synctest.Wait()
		expect(t, "events", []string{"ADDED a ->1", "UPDATED a 1>2", "DELETED a 2>-", "ADDED a ->3", "ADDED b ->1", "DELETED b 1>-"}, handler.told())
		expect(t, "the map", s.exists(), names(w.List()))
		if obj, exists, err := w.GetByKey("default/a"); err != nil || !exists || obj.Data["value"] != "3" {
			t.Errorf("GetByKey: %v, %v, %v", obj, exists, err)
		}
		if opened, err := w.Watches(); opened != 1 || err != nil {
			t.Errorf("%d watches, %v; want 1, still open", opened, err)
		}
		run.stop()
		if err := w.Run(t.Context()); !errors.Is(err, ErrAlreadyRun) {
			t.Errorf("the second Run: %v, want ErrAlreadyRun", err)
		}
	})
}
