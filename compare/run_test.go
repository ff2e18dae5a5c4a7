package compare

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tiny is a comparison that takes about a second for each subject.
func tiny() Options {
	return Options{Objects: 50, Rate: 100, Duration: time.Second, PollInterval: 200 * time.Millisecond, Seed: 7}
}

func TestRunAllSubjects(t *testing.T) {
	for _, encoding := range []Encoding{Protobuf, JSON} {
		t.Run(string(encoding), func(t *testing.T) {
			t.Parallel()
			opts := tiny()
			opts.Subjects = SubjectNames()
			opts.Encoding = encoding
			result, err := Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := result.Err(); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range result.Subjects {
				names = append(names, s.Name)
				checkPlausible(t, s)
			}
			if diff := cmp.Diff(SubjectNames(), names); diff != "" {
				t.Fatalf("subjects in the order asked for (-want +got):\n%s", diff)
			}
			naive, ours := result.Subjects[0], result.Subjects[1]
			if naive.Requests <= ours.Requests {
				t.Errorf("naive polling made %d requests, ours %d", naive.Requests, ours.Requests)
			}
			if naive.MissedStates == 0 {
				t.Error("100 writes/s polled five times a second: naive must have missed states")
			}
			for _, s := range result.Subjects[1:] {
				if s.MissedStates != 0 {
					t.Errorf("%s missed %d states", s.Name, s.MissedStates)
				}
			}
		})
	}
}

func checkPlausible(t *testing.T, s SubjectResult) {
	t.Helper()
	switch {
	case !s.Converged:
		t.Errorf("%s did not converge", s.Name)
	case s.Requests < 1: // a watch-list is a single one
		t.Errorf("%s: %d requests", s.Name, s.Requests)
	case s.BytesReceived < 50*1000:
		t.Errorf("%s: %d bytes received; fifty pods are more than that", s.Name, s.BytesReceived)
	case s.CPUSeconds != nil && (*s.CPUSeconds <= 0 || *s.CPUSeconds > 60):
		t.Errorf("%s: %v CPU seconds", s.Name, *s.CPUSeconds)
	case s.PeakRSSBytes != nil && *s.PeakRSSBytes < 1<<20:
		t.Errorf("%s: peak RSS of %d bytes", s.Name, *s.PeakRSSBytes)
	case s.StalenessP50Ms == nil || s.StalenessP99Ms == nil:
		t.Errorf("%s: no staleness", s.Name)
	case *s.StalenessP50Ms <= 0 || *s.StalenessP99Ms < *s.StalenessP50Ms:
		t.Errorf("%s: staleness p50 %v ms, p99 %v ms", s.Name, *s.StalenessP50Ms, *s.StalenessP99Ms)
	}
}

func TestResultAsJSON(t *testing.T) {
	one, n := 1.5, int64(7)
	result := Result{Subjects: []SubjectResult{
		{Name: "known", CPUSeconds: &one, PeakRSSBytes: &n, StalenessP50Ms: &one, StalenessP99Ms: &one},
		{Name: "unknown"},
	}}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Subjects []map[string]any }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"bytesReceived", "converged", "cpuSeconds", "missedStates", "name", "peakRSSBytes", "requests", "stalenessP50Ms", "stalenessP99Ms"}
	for _, s := range got.Subjects {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s))); diff != "" {
			t.Errorf("fields of %v (-want +got):\n%s", s["name"], diff)
		}
	}
	for _, field := range []string{"cpuSeconds", "peakRSSBytes", "stalenessP50Ms", "stalenessP99Ms"} {
		if v := got.Subjects[1][field]; v != nil {
			t.Errorf("unknown %s is %v, not null", field, v)
		}
	}
}

func TestTableSaysUnknown(t *testing.T) {
	var b strings.Builder
	result := Result{Subjects: []SubjectResult{{Name: "ours"}}, Notes: []string{"a note"}}
	if err := result.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"subject", "unknown", "NO", "note: a note"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

func TestRunStops(t *testing.T) {
	why := errors.New("enough")
	for _, phase := range []Phase{Filling, Syncing, Writing} {
		t.Run(string(phase), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			opts := tiny()
			opts.Subjects = []string{oursName}
			opts.Duration = time.Minute
			opts.Rate = 10
			var asked time.Time
			opts.OnProgress = func(p Progress) {
				if p.Phase == phase && asked.IsZero() {
					asked = time.Now()
					cancel(why)
				}
			}
			_, err := Run(ctx, opts)
			if !errors.Is(err, why) {
				t.Fatalf("err = %v; want the context's cause", err)
			}
			if took := time.Since(asked); took > time.Second {
				t.Fatalf("it took %v to stop", took)
			}
		})
	}
}

// A subject whose cache can't equal the server in the time given is reported,
// with the difference.
func TestRunNotConverged(t *testing.T) {
	opts := tiny()
	opts.Subjects = []string{naiveName}
	opts.Duration = 200 * time.Millisecond
	opts.PollInterval = time.Minute // far past the end
	opts.SettleTimeout = 10 * time.Millisecond
	result, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	err = result.Err()
	if e := (*NotConvergedError)(nil); !errors.As(err, &e) || e.Subject != naiveName || !strings.Contains(err.Error(), "out of date") {
		t.Fatalf("err = %v (%T); want a NotConvergedError that tells the difference", err, err)
	}
	s := result.Subjects[0]
	if s.MissedStates != result.Config.Writes || s.StalenessP50Ms != nil {
		t.Fatalf("missed %d of %d, staleness %v; never told again, all are missed and none has a staleness (M3)", s.MissedStates, result.Config.Writes, s.StalenessP50Ms)
	}
}

func TestRunReportsABrokenChild(t *testing.T) {
	for _, tt := range []struct {
		why     string
		command []string
		want    string
	}{
		{"no such program", []string{"/nonexistent/informerlab"}, "no such file"},
		{"a program that is no child of ours", []string{"false"}, "exit status 1"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			opts := tiny()
			opts.Command = tt.command
			if _, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v; want one with %q", err, tt.want)
			}
		})
	}
}
