package reflector

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// logged is a log with the time of each line, since its first use.
type logged struct {
	began time.Time
	lines []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	if l.began.IsZero() {
		l.began = r.Time
	}
	line := fmt.Sprintf("%v %s", r.Time.Sub(l.began), r.Message)
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.lines = append(l.lines, line)
	return nil
}

// logs runs a reflector over a script, with the longest wait each time: after a
// few attempts that is 30 s.
func logs(t *testing.T, f *fake, last time.Duration) []string {
	var l logged
	drive(t, f, Options{Logger: slog.New(&l), Rand: func() float64 { return 1 }}, last)
	return l.lines
}

// TestLog: trouble is one line when it begins, or changes, and one when it is
// over.
func TestLog(t *testing.T) {
	same(t, "log", logs(t, &fake{
		lists:   []fakePage{{err: errReset}, {err: errReset}, {err: errReset}, {err: refusal(403, metav1.StatusReasonForbidden)}, onePage},
		watches: []fakeStream{{}},
	}, time.Minute),
		"0s attempt failed err=connection reset attempts=1 unlogged=0",
		"5.6s attempt failed err=no attempts=4 unlogged=0",
		"12s recovered resourceVersion=10 attempts=4",
	)
}

// TestLog_NeverEnding: trouble that doesn't end was told once, with the first
// count, and then never again: who looked at the log of the last hours found
// nothing.
func TestLog_NeverEnding(t *testing.T) {
	const day = 24 * time.Hour
	lists := make([]fakePage, 2*day/time.Minute+10)
	for i := range lists {
		lists[i].err = errReset
	}
	got := logs(t, &fake{lists: lists}, day)
	same(t, "the first lines", got[:min(len(got), 9)],
		"0s attempt failed err=connection reset attempts=1 unlogged=0",
		"1m20.4s attempt failed err=connection reset attempts=8 unlogged=6",
		"3m20.4s attempt failed err=connection reset attempts=12 unlogged=3",
		"7m20.4s attempt failed err=connection reset attempts=20 unlogged=7",
		"15m20.4s attempt failed err=connection reset attempts=36 unlogged=15",
		"31m20.4s attempt failed err=connection reset attempts=68 unlogged=31",
		"1h3m20.4s attempt failed err=connection reset attempts=132 unlogged=63",
		"2h3m20.4s attempt failed err=connection reset attempts=252 unlogged=119",
		"3h3m20.4s attempt failed err=connection reset attempts=372 unlogged=119",
	)
	if len(got) != 6+23 {
		t.Errorf("%d lines in a day", len(got))
	}
}

// TestLog_Flapping: what fails, works and fails again in no time is no news each
// time, nor is every change between two failures.
func TestLog_Flapping(t *testing.T) {
	tests := []struct {
		why  string
		fake func() *fake
		want []string
	}{
		{
			why: "a balancer that cuts each watch ten seconds after its event",
			fake: func() *fake {
				f := &fake{lists: []fakePage{onePage}}
				for i := range 30 {
					f.watches = append(f.watches, fakeStream{events: []Event[obj]{added("c", fmt.Sprint(20+i))}, every: 5 * time.Second, end: errReset})
				}
				return f
			},
			want: []string{
				"0s attempt failed err=connection reset attempts=1 unlogged=0",
				"5.8s recovered resourceVersion=21 attempts=1",
				"1m14.8s attempt failed err=connection reset attempts=1 unlogged=4",
				"1m45.4s recovered resourceVersion=26 attempts=1",
				"3m50.4s attempt failed err=connection reset attempts=1 unlogged=3",
				"4m25.4s recovered resourceVersion=30 attempts=1",
				"7m50.4s attempt failed err=connection reset attempts=1 unlogged=5",
				"8m25.4s recovered resourceVersion=36 attempts=1",
			},
		},
		{
			why: "two failures by turns",
			fake: func() *fake {
				f := &fake{}
				for range 20 {
					f.lists = append(f.lists, fakePage{err: errReset}, fakePage{err: refusal(503, metav1.StatusReasonServiceUnavailable)})
				}
				return f
			},
			want: []string{
				"0s attempt failed err=connection reset attempts=1 unlogged=0",
				"800ms attempt failed err=no attempts=2 unlogged=0",
				"1m20.4s attempt failed err=no attempts=8 unlogged=2",
				"1m50.4s attempt failed err=connection reset attempts=9 unlogged=3",
				"3m20.4s attempt failed err=no attempts=12 unlogged=1",
				"3m50.4s attempt failed err=connection reset attempts=13 unlogged=1",
				"7m20.4s attempt failed err=no attempts=20 unlogged=3",
				"7m50.4s attempt failed err=connection reset attempts=21 unlogged=3",
			},
		},
		{
			why: "but what was well for a while is news",
			fake: func() *fake {
				f := &fake{lists: []fakePage{onePage}}
				for i := range 3 {
					f.watches = append(f.watches, fakeStream{events: []Event[obj]{added("c", fmt.Sprint(20+i))}, every: 5*time.Minute + time.Duration(i)*time.Second, end: errReset})
				}
				f.watches = append(f.watches, fakeStream{events: []Event[obj]{added("c", "30")}, every: time.Second, end: io.EOF})
				return f
			},
			want: []string{
				"0s attempt failed err=connection reset attempts=1 unlogged=0",
				"5m1.8s recovered resourceVersion=21 attempts=1",
				"10m2.8s attempt failed err=connection reset attempts=1 unlogged=0",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got := logs(t, tt.fake(), 25*time.Minute)
			same(t, "log", got[:min(len(got), len(tt.want))], tt.want...)
		})
	}
}

// TestTrouble_ManyNatures: a server may give any number of reasons; what is
// remembered of them, and what is told, is bounded.
func TestTrouble_ManyNatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trouble
		var told []int
		for i := range 1000 {
			if _, tell := tr.failed(nature{reason: fmt.Sprint(i)}, time.Now()); tell {
				told = append(told, i)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(told, want) || len(tr.kinds) != mostAilments {
			t.Errorf("told %v, %d kept", told, len(tr.kinds))
		}
	})
}
