package compare

import (
	"strings"
	"testing"
)

func TestDifferenceAndDigest(t *testing.T) {
	server := []Version{{"a/x", "1", "10"}, {"a/y", "2", "20"}, {"b/x", "3", "30"}}
	for _, tt := range []struct {
		why   string
		cache []Version
		want  string // "" : no difference
	}{
		{"equal, in another order", []Version{{"b/x", "3", "30"}, {"a/x", "1", "10"}, {"a/y", "2", "20"}}, ""},
		{"an object is missing", []Version{{"a/x", "1", "10"}, {"b/x", "3", "30"}}, "1 are missing, 0 out of date and 0 too many; first: a/y is on the server"},
		{"one too many", append([]Version{{"z", "9", "9"}}, server...), "0 are missing, 0 out of date and 1 too many; first: z is in the cache"},
		{"an old version", []Version{{"a/x", "1", "9"}, server[1], server[2]}, "a/x is at resourceVersion 9, on the server at 10"},
		{"another incarnation at the same version", []Version{{"a/x", "0", "10"}, server[1], server[2]}, "a/x has uid 0, the server's has 1"},
		{"empty", nil, "3 are missing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := difference(server, tt.cache)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("difference = %q; want %q in it", got, tt.want)
			}
			want := append([]Version(nil), server...)
			if equal := digest(want) == digest(tt.cache); equal != (tt.want == "") {
				t.Errorf("equal by digest: %v", equal)
			}
		})
	}
}
