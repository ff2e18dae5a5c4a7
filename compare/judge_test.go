package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	at := func(ms int) int64 { return int64(ms) * int64(time.Millisecond) }
	wrote := func(ms int, key, uid, rv string) Write {
		return Write{State: State{UID: uid, ResourceVersion: rv, Deleted: rv == ""}, Key: key, At: at(ms)}
	}
	told := func(ms int, uid, rv string) Told {
		return Told{State: State{UID: uid, ResourceVersion: rv, Deleted: rv == ""}, At: at(ms)}
	}
	for _, tt := range []struct {
		why    string
		writes []Write
		told   []Told
		want   []int // staleness in ms, sorted
		missed int
	}{
		{"nothing written", nil, []Told{told(1, "a", "1")}, nil, 0},
		{"every state told", []Write{wrote(10, "x", "a", "1"), wrote(20, "x", "a", "2")}, []Told{told(11, "a", "1"), told(25, "a", "2")}, []int{1, 5}, 0},
		{"a state skipped is missed, and stale until the next one", []Write{wrote(10, "x", "a", "1"), wrote(20, "x", "a", "2")}, []Told{told(30, "a", "2")}, []int{10, 20}, 1},
		{"never told again: missed, without a staleness", []Write{wrote(10, "x", "a", "1"), wrote(20, "x", "a", "2")}, []Told{told(11, "a", "1")}, []int{1}, 1},
		{"told twice: the first counts", []Write{wrote(10, "x", "a", "1")}, []Told{told(30, "a", "1"), told(12, "a", "1")}, []int{2}, 0},
		{"a deletion is told by UID", []Write{wrote(10, "x", "a", "")}, []Told{told(13, "a", "")}, []int{3}, 0},
		{"a deletion of another incarnation tells nothing", []Write{wrote(10, "x", "a", "")}, []Told{told(13, "b", "")}, nil, 1},
		{"the new object under an old name makes up for the deletion, which is missed", []Write{wrote(10, "x", "a", ""), wrote(20, "x", "b", "3")}, []Told{told(25, "b", "3")}, []int{5, 15}, 1},
		{"objects are judged apart", []Write{wrote(10, "x", "a", "1"), wrote(20, "y", "b", "2")}, []Told{told(25, "b", "2")}, []int{5}, 1},
		{"states that nobody wrote are ignored", []Write{wrote(10, "x", "a", "1")}, []Told{told(5, "a", "0"), told(11, "a", "1")}, []int{1}, 0},
		{"a clock that was set back gives no negative time", []Write{wrote(10, "x", "a", "1")}, []Told{told(5, "a", "1")}, []int{0}, 0},
	} {
		t.Run(tt.why, func(t *testing.T) {
			v := judge(tt.writes, tt.told)
			var got []int
			for _, d := range v.staleness {
				got = append(got, int(d/time.Millisecond))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || v.missed != tt.missed {
				t.Fatalf("missed %d, want %d; staleness (-want +got):\n%s", v.missed, tt.missed, diff)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, tt := range []struct {
		why  string
		of   []time.Duration
		p    float64
		want time.Duration
		ok   bool
	}{
		{"no sample, no figure", nil, 50, 0, false},
		{"one sample is every percentile", []time.Duration{7}, 99, 7, true},
		{"nearest rank", hundred, 50, 50, true},
		{"the tail", hundred, 99, 99, true},
		{"of two the lower is the median", []time.Duration{1, 9}, 50, 1, true},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got, ok := (verdict{staleness: tt.of}).percentile(tt.p); got != tt.want || ok != tt.ok {
				t.Fatalf("got %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
