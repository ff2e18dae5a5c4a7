package naive

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/informer"
	"informer.example/object"
)

type configMap = *corev1.ConfigMap

// item reads "key uid rv", where "-" stands for an empty uid or rv.
func item(t testing.TB, s string) object.Item[configMap] {
	t.Helper()
	f := strings.Fields(s)
	if len(f) != 3 {
		t.Fatalf("item %q: want \"key uid rv\"", s)
	}
	key, err := object.ParseKey(f[0])
	if err != nil {
		t.Fatal(err)
	}
	it, err := object.NewItem(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		UID: types.UID(strings.Trim(f[1], "-")), ResourceVersion: strings.Trim(f[2], "-"),
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func state(t testing.TB, items ...string) State[configMap] {
	t.Helper()
	s := State[configMap]{}
	for _, i := range items {
		it := item(t, i)
		s[it.Key] = it
	}
	return s
}

// brief writes changes as "ADDED key uid@rv", "UPDATED key uid@rv>uid@rv".
func brief(changes []Change[configMap]) []string {
	version := func(it object.Item[configMap]) string { return fmt.Sprintf("%s@%s", it.UID, it.ResourceVersion) }
	var out []string
	for _, c := range changes {
		switch c.Type {
		case informer.Added:
			out = append(out, fmt.Sprintf("ADDED %s %s", c.Key, version(c.New)))
		case informer.Updated:
			out = append(out, fmt.Sprintf("UPDATED %s %s>%s", c.Key, version(c.Old), version(c.New)))
		case informer.Deleted:
			out = append(out, fmt.Sprintf("DELETED %s %s", c.Key, version(c.Old)))
		}
	}
	return out
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct {
		name, why     string
		before, after []string
		want          []string
	}{
		{
			name: "N1 absence is a deletion", why: "no server tells a poller that something is gone",
			before: []string{"a u1 1", "b u2 2"}, after: []string{"a u1 1"},
			want: []string{"DELETED b u2@2"},
		},
		{
			name: "N1 everything gone", why: "an empty list is a state like any other",
			before: []string{"a u1 1"},
			want:   []string{"DELETED a u1@1"},
		},
		{
			name: "N2 a new key", why: "",
			before: []string{"a u1 1"}, after: []string{"a u1 1", "b u2 2"},
			want: []string{"ADDED b u2@2"},
		},
		{
			name: "N2 from nothing", why: "the first poll is a Diff against the empty state",
			after: []string{"b u2 2", "a u1 1"},
			want:  []string{"ADDED a u1@1", "ADDED b u2@2"},
		},
		{
			name: "N3 the same version", why: "polling must be silent while nothing happens",
			before: []string{"a u1 1", "b u2 2"}, after: []string{"a u1 1", "b u2 2"},
		},
		{
			name: "N4 another version", why: "",
			before: []string{"a u1 1"}, after: []string{"a u1 9"},
			want: []string{"UPDATED a u1@1>u1@9"},
		},
		{
			name: "N4 an older version", why: "the server was restored from a backup; the list says what is, not what is newer",
			before: []string{"a u1 9"}, after: []string{"a u1 1"},
			want: []string{"UPDATED a u1@9>u1@1"},
		},
		{
			name: "N4 no version", why: "without a resourceVersion nothing proves that it is unchanged",
			before: []string{"a u1 -"}, after: []string{"a u1 -"},
			want: []string{"UPDATED a u1@>u1@"},
		},
		{
			name: "N5 another object under the same name", why: "an update from one to the other would leak what the first one held",
			before: []string{"a u1 1"}, after: []string{"a u2 2"},
			want: []string{"DELETED a u1@1", "ADDED a u2@2"},
		},
		{
			name: "N5 beats N3", why: "the UID decides first: a resourceVersion says nothing about another object",
			before: []string{"a u1 1"}, after: []string{"a u2 1"},
			want: []string{"DELETED a u1@1", "ADDED a u2@1"},
		},
		{
			name: "N6 key order", why: "'-' sorts before '/': namespace a-b comes before namespace a",
			before: []string{"a/x u1 1", "b/y u2 2"}, after: []string{"a-b/z u3 3", "a/x u1 4", "b/y u5 5"},
			want: []string{"ADDED a-b/z u3@3", "UPDATED a/x u1@1>u1@4", "DELETED b/y u2@2", "ADDED b/y u5@5"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, after := state(t, tc.before...), state(t, tc.after...)
			got := brief(Diff(before, after))
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s\n(-want +got)\n%s", tc.why, d)
			}
		})
	}
}

// replay applies changes to a copy of the state, and fails the test when one
// of them doesn't fit what is there.
func replay(t *testing.T, s State[configMap], changes []Change[configMap]) State[configMap] {
	t.Helper()
	s = maps.Clone(s)
	if s == nil {
		s = State[configMap]{}
	}
	for _, c := range changes {
		was, known := s[c.Key]
		switch c.Type {
		case informer.Added:
			if known {
				t.Fatalf("%s was added, and is there already", c.Key)
			}
			s[c.Key] = c.New
		case informer.Updated:
			if !known || was != c.Old || c.Old.UID != c.New.UID {
				t.Fatalf("%s was updated from %v to %v, and %v is there", c.Key, c.Old, c.New, was)
			}
			s[c.Key] = c.New
		case informer.Deleted:
			if !known || was != c.Old {
				t.Fatalf("%s was deleted with the last state %v, and %v is there", c.Key, c.Old, was)
			}
			delete(s, c.Key)
		default:
			t.Fatalf("unknown type %d", c.Type)
		}
	}
	return s
}

// N7 for any two states, N6 and N8 beside it.
func FuzzDiffReplay(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(6), uint8(3))
		f.Add(seed, uint8(200), uint8(1)) // enough for the sort to be more than an insertion sort
	}
	f.Fuzz(func(t *testing.T, seed uint64, keys, versions uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		random := func() State[configMap] {
			s := State[configMap]{}
			for range r.IntN(int(keys) + 1) {
				key := object.Key{Namespace: []string{"", "a", "a-b"}[r.IntN(3)], Name: fmt.Sprint(r.IntN(int(keys) + 1))}
				s[key] = item(t, fmt.Sprintf("%s u%d %d", key, r.IntN(2), 1+r.IntN(int(versions)+1)))
			}
			return s
		}
		before, after := random(), random()
		beforeWas, afterWas := maps.Clone(before), maps.Clone(after)

		changes := Diff(before, after)
		if !slices.IsSortedFunc(changes, func(a, b Change[configMap]) int { return a.Key.Compare(b.Key) }) {
			t.Errorf("N6: not in key order: %v", brief(changes))
		}
		got := replay(t, before, changes)
		same := func(a, b object.Item[configMap]) bool { return a.Key == b.Key && a.SameVersion(b) }
		if !maps.EqualFunc(got, after, same) {
			t.Errorf("N7: replaying %v gives %v, want %v", brief(changes), got, after)
		}
		if !maps.Equal(before, beforeWas) || !maps.Equal(after, afterWas) {
			t.Error("N8: Diff changed a state that it was given")
		}
	})
}
