package naive

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"informer.example/object"
)

// poll is what one poll should lead to.
type poll struct {
	pages []page
	want  []string // events
	state []string // afterwards
	fails string   // part of the error, "" for success
}

func TestPoller(t *testing.T) {
	first := poll{
		pages: []page{{items: []string{"a u1 1", "b u2 2"}, rv: "5"}},
		want:  []string{"ADDED a u1@1 list initial", "ADDED b u2@2 list initial"},
		state: []string{"a@1", "b@2"},
	}
	for _, tc := range []struct {
		name, why string
		polls     []poll
		opts      Options
	}{
		{
			name: "add, update, delete", why: "the events are the difference of two lists, and name it as a relist",
			polls: []poll{first, {
				pages: []page{{items: []string{"b u2 7", "c u3 6"}, rv: "8"}},
				want:  []string{"DELETED a u1@1 relist", "UPDATED b u2@2>7 relist", "ADDED c u3@6 relist"},
				state: []string{"b@7", "c@6"},
			}},
		},
		{
			name: "nothing changed", why: "N3",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1", "b u2 2"}, rv: "99"}},
				state: []string{"a@1", "b@2"},
			}},
		},
		{
			name: "another UID", why: "N5 reaches the handler as two events",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u9 9", "b u2 2"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "ADDED a u9@9 relist"},
				state: []string{"a@9", "b@2"},
			}},
		},
		{
			name: "several pages", why: "a list is complete when the token is empty, not when a page is",
			polls: []poll{{
				pages: []page{
					{items: []string{"a u1 1"}, rv: "5", next: "t1"},
					{rv: "5", next: "t2"},
					{items: []string{"b u2 2"}, rv: "5"},
				},
				want:  []string{"ADDED a u1@1 list initial", "ADDED b u2@2 list initial"},
				state: []string{"a@1", "b@2"},
			}},
		},
		{
			name: "N9 a page fails", why: "half a list would delete the other half",
			polls: []poll{first, {
				pages: []page{
					{items: []string{"c u3 6"}, rv: "8", next: "t1"},
					{items: []string{"d u4 7"}, err: errors.New("connection reset")},
				},
				state: []string{"a@1", "b@2"},
				fails: "page 2, after 2 objects: connection reset",
			}, {
				pages: []page{{items: []string{"b u2 2", "c u3 6"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "ADDED c u3@6 relist"},
				state: []string{"b@2", "c@6"},
			}},
		},
		{
			name: "N9 the first poll fails", why: "the first complete one is the initial one",
			polls: []poll{{
				pages: []page{{items: []string{"a u1 1"}, err: errors.New("cut")}},
				fails: "page 1, after 1 objects: cut",
			}, first},
		},
		{
			name: "N9 pages of two moments", why: "an object that moved between them may be missing from both",
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1"}, rv: "8", next: "t1"}, {rv: "9"}},
				state: []string{"a@1", "b@2"},
				fails: `from resourceVersion "8" to "9" between two pages`,
			}},
		},
		{
			name: "N9 the same token for ever", why: "nothing is unbounded",
			polls: []poll{first, {
				pages: []page{{rv: "8", next: "t1"}, {rv: "8", next: "t1"}},
				state: []string{"a@1", "b@2"},
				fails: "the same continue token twice",
			}},
		},
		{
			name: "N9 too many objects", why: "nothing is unbounded",
			opts: Options{MaxObjects: 2},
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1", "b u2 2", "c u3 3"}, rv: "8"}},
				state: []string{"a@1", "b@2"},
				fails: "more than 2 objects (Options.MaxObjects)",
			}},
		},
		{
			name: "N9 a server that hangs", why: "no one else watches the clock",
			opts: Options{PageTimeout: time.Second},
			polls: []poll{first, {
				pages: []page{{items: []string{"a u1 1"}, hang: true}},
				state: []string{"a@1", "b@2"},
				fails: "no complete answer within 1s (Options.PageTimeout)",
			}},
		},
		{
			name: "N10 quarantined", why: "b exists, it is only unreadable; a is gone",
			polls: []poll{first, {
				pages: []page{{rv: "8", quarantined: []object.Key{{Name: "b"}, {Name: "new"}}}},
				want:  []string{"DELETED a u1@1 relist"},
				state: []string{"b@2"},
			}, {
				pages: []page{{items: []string{"b u2 3"}, rv: "9"}},
				want:  []string{"UPDATED b u2@2>3 relist"},
				state: []string{"b@3"},
			}},
		},
		{
			name: "N10 quarantined without a key", why: "it may be any of the missing ones",
			polls: []poll{first, {
				pages: []page{{items: []string{"c u3 3"}, rv: "8", quarantined: []object.Key{{}}}},
				want:  []string{"ADDED c u3@3 relist"},
				state: []string{"a@1", "b@2", "c@3"},
			}, {
				pages: []page{{items: []string{"c u3 3"}, rv: "9"}},
				want:  []string{"DELETED a u1@1 relist", "DELETED b u2@2 relist"},
				state: []string{"c@3"},
			}},
		},
		{
			name: "no resourceVersion", why: "a poller is what is left for such servers",
			polls: []poll{{
				pages: []page{{items: []string{"a u1 -"}}},
				want:  []string{"ADDED a u1@ list initial"},
				state: []string{"a@"},
			}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, handler := &script{t: t}, &recorder{}
				turn := make(chan struct{})
				tc.opts.Interval = time.Minute
				tc.opts.OnPoll = func(Stats) { <-turn }
				p := NewPoller(source, handler, tc.opts)
				source.pages = tc.polls[0].pages
				run := start(t, p.Run)

				failures := 0
				for i, want := range tc.polls {
					time.Sleep(time.Second) // virtual: lets PageTimeout pass
					synctest.Wait()         // the poll is over, OnPoll holds the next one
					if d := cmp.Diff(want.want, handler.take()); d != "" {
						t.Errorf("poll %d: events: %s\n(-want +got)\n%s", i, tc.why, d)
					}
					if d := cmp.Diff(want.state, names(p.List())); d != "" {
						t.Errorf("poll %d: state: %s\n(-want +got)\n%s", i, tc.why, d)
					}
					stats := p.Stats()
					if want.fails != "" {
						failures++
						var pe *PollError
						if !errors.As(stats.LastError, &pe) || !strings.Contains(pe.Error(), want.fails) {
							t.Errorf("poll %d: the error is %v, want a *PollError with %q", i, stats.LastError, want.fails)
						}
					} else if stats.LastError != nil {
						t.Errorf("poll %d: %v", i, stats.LastError)
					}
					if stats.Polls != i+1 || stats.Failures != failures || stats.Objects != len(want.state) {
						t.Errorf("poll %d: stats %+v, want %d failures and %d objects", i, stats, failures, len(want.state))
					}
					if len(source.pages) > 0 {
						t.Errorf("poll %d: %d pages were not asked for", i, len(source.pages))
					}
					if i+1 < len(tc.polls) {
						source.pages = tc.polls[i+1].pages
						turn <- struct{}{}
						time.Sleep(time.Minute)
					}
				}
				close(turn)
				run.stop()
			})
		})
	}
}
