package fault_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/apisim/fault"
)

// TestWatchFaults: what arrives of a watch of four events and a bookmark.
func TestWatchFaults(t *testing.T) {
	const (
		plain     = "/api/v1/pods?watch=1&resourceVersion=100&allowWatchBookmarks=true&timeoutSeconds=5"
		watchList = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=5"
		whole     = "ADDED p00, ADDED p01, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105"
	)
	expired := fault.StatusFor(410)
	tests := []struct {
		why    string
		fault  fault.Fault
		url    string
		want   string
		broken bool
	}{
		{"an editor that changes nothing", fault.DropBookmarks(), watchList, "ADDED p00, ADDED p01, ADDED p02, ADDED p03, BOOKMARK! 104, ADDED p04", false},
		{"no fault", nil, plain, whole, false},
		{"a clean end at once", fault.EndAfter(0), plain, "", false},
		{"a clean end in the middle", fault.EndAfter(3), plain, "ADDED p00, ADDED p01, ADDED p02", false},
		{"a break in the middle", fault.BreakAfter(3), plain, "ADDED p00, ADDED p01, ADDED p02", true},
		{"an error first", fault.ErrorAfter(0, expired), plain, "ERROR 410", false},
		{"an error later", fault.ErrorAfter(2, expired), plain, "ADDED p00, ADDED p01, ERROR 410", false},
		{"half a frame, clean", fault.CutFrame(1, true), plain, "ADDED p00, half", false},
		{"half a frame, broken", fault.CutFrame(1, false), plain, "ADDED p00, half", true},
		{"garbage", fault.BadFrame(1, fault.Garbage), plain, "ADDED p00, unreadable, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105", false},
		{"an unknown type", fault.BadFrame(1, fault.UnknownType), plain, "ADDED p00, unreadable, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105", false},
		{"no object", fault.BadFrame(1, fault.NullObject), plain, "ADDED p00, unreadable, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105", false},
		{"a large frame", fault.BadFrame(1, fault.HugeFrame), plain, "ADDED p00, ADDED p01, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105", false},
		{"no bookmarks", fault.DropBookmarks(), plain, "ADDED p00, ADDED p01, ADDED p02, ADDED p03, ADDED p04", false},
		{"no marker", fault.WithholdMarker(), watchList, whole, false},
		{"markers twice", fault.RepeatBookmarks(), watchList, "ADDED p00, ADDED p01, ADDED p02, ADDED p03, BOOKMARK! 104, BOOKMARK! 104, ADDED p04, BOOKMARK 105, BOOKMARK 105", false},
		{"a marker where none belongs", fault.FalseMarker(), plain, "ADDED p00, BOOKMARK! 101, ADDED p01, BOOKMARK! 102, ADDED p02, BOOKMARK! 103, ADDED p03, BOOKMARK! 104, ADDED p04, BOOKMARK! 105, BOOKMARK 105", false},
		{"a bookmark of another kind", fault.WrongBookmark(), plain, whole, false},
		{"a bookmark far ahead", fault.BookmarkAfter(1, func() string { return "900" }), plain, "ADDED p00, BOOKMARK 900", false},
		{"a replay", fault.Replay(2), plain, "ADDED p00, ADDED p01, ADDED p00, ADDED p01, ADDED p02, ADDED p03, ADDED p04, BOOKMARK 105", false},
		{"another type", fault.Retype("ADDED", "MODIFIED"), plain, strings.ReplaceAll(whole, "ADDED", "MODIFIED"), false},
		{"a deletion of what never was", fault.GhostDelete(), plain, "ADDED p00, DELETED ghost, ADDED p01, DELETED ghost, ADDED p02, DELETED ghost, ADDED p03, DELETED ghost, ADDED p04, DELETED ghost, BOOKMARK 105", false},
	}
	for _, tt := range tests {
		for _, accept := range []string{jsonType, protobufType} {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, 4, apisim.WithBookmarkInterval(3*time.Second))
				s.SetFault(func(*http.Request) fault.Fault { return tt.fault })
				time.AfterFunc(time.Second, func() { write(t, s, 4) })
				got := get(t, s, tt.url, accept)
				if words := got.frames(); words != tt.want || got.code != 200 {
					t.Errorf("%s, %s:\n%d %s\nwant\n%s", tt.why, accept, got.code, words, tt.want)
				}
				if broken := errors.Is(got.err, io.ErrUnexpectedEOF); broken != tt.broken || !broken && got.err != nil {
					t.Errorf("%s, %s: %v", tt.why, accept, got.err)
				}
				synctest.Wait()
				if n := s.Stats().Watches; n != 0 {
					t.Errorf("C5: %s: %d watches left", tt.why, n)
				}
				time.Sleep(4 * time.Second)
			})
		}
	}
}

// An end comes at its event and doesn't wait for the next one.
func TestEndAfter_AtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, 2)
		s.SetFault(func(*http.Request) fault.Fault { return fault.EndAfter(2) })
		began := time.Now()
		got := get(t, s, "/api/v1/pods?watch=1&resourceVersion=100", jsonType)
		if got.err != nil || time.Since(began) != 0 {
			t.Errorf("%v after %v", got.err, time.Since(began))
		}
	})
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, 2)
		s.SetFault(func(*http.Request) fault.Fault { return fault.Hold(10 * time.Second) })
		resp, err := ask(t, s.Config(), "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=20", jsonType)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { write(t, s, 2) })
		first := make([]byte, 1)
		if _, err := io.ReadFull(resp.Body, first); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("the first byte after %v: %v", time.Since(began), err)
		}
		rest, err := io.ReadAll(resp.Body)
		got := answer{header: resp.Header, body: append(first, rest...)}
		if words := got.frames(); err != nil || words != "ADDED p00, ADDED p01, ADDED p02" || time.Since(began) != 20*time.Second {
			t.Errorf("%s, %v after %v", words, err, time.Since(began))
		}
	})
}

func TestMembers(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, 3)
			s.SetFault(func(*http.Request) fault.Fault { return fault.Members(7, lazy) })
			time.AfterFunc(time.Second, func() { write(t, s, 3) })
			got := get(t, s, "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=5", jsonType)
			members := bytes.Count(got.body, []byte("\x1f\x8b\x08"))
			z, err := gzip.NewReader(bytes.NewReader(got.body))
			if err != nil || members != 2 || got.header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("%d members, %v, %v", members, got.header, err)
			}
			got.body, err = io.ReadAll(z)
			if words := got.frames(); err != nil || words != "ADDED p00, ADDED p01, ADDED p02, ADDED p03" {
				t.Errorf("%s, %v", words, err)
			}
		})
	}
}
