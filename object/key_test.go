package object

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestO2_CompareIsTheServersOrder(t *testing.T) {
	tests := []struct {
		a, b Key
		want int
		why  string
	}{
		{Key{"a", "x"}, Key{"a", "x"}, 0, "the same key"},
		{Key{"a", "x"}, Key{"a", "y"}, -1, "one namespace: by name"},
		{Key{"a", "x"}, Key{"b", "a"}, -1, "the namespace counts first"},
		{Key{"a-b", "x"}, Key{"a", "x"}, -1, "'-' sorts before '/', so a-b/ is listed before a/"},
		{Key{"a.b", "x"}, Key{"a", "x"}, -1, "so does '.'"},
		{Key{"a0", "x"}, Key{"a", "x"}, 1, "a digit sorts after '/'"},
		{Key{"", "b"}, Key{"", "c"}, -1, "cluster-scoped: by name"},
		{Key{"", "a"}, Key{"a", "x"}, -1, "\"a\" is a prefix of \"a/x\""},
		{Key{"", "a/x"}, Key{"a", "x"}, -1, "O1: the same string is not the same key"},
		{Key{}, Key{}, 0, "the zero key"},
	}
	for _, tt := range tests {
		if got := tt.a.Compare(tt.b); got != tt.want {
			t.Errorf("%q.Compare(%q) = %d, want %d: %s", tt.a, tt.b, got, tt.want, tt.why)
		}
		if got := tt.b.Compare(tt.a); got != -tt.want {
			t.Errorf("%q.Compare(%q) = %d, want %d: the order turned round", tt.b, tt.a, got, -tt.want)
		}
	}
}

// FuzzKeyCompare holds the two fast paths of Compare against its definition.
func FuzzKeyCompare(f *testing.F) {
	f.Add("a", "x", "a-b", "x")
	f.Add("", "a/b", "a", "b")
	f.Add("kube-system", "x", "kube", "system")
	f.Fuzz(func(t *testing.T, ns1, n1, ns2, n2 string) {
		a, b := Key{ns1, n1}, Key{ns2, n2}
		got := a.Compare(b)
		if (got == 0) != (a == b) {
			t.Fatalf("O1: %q.Compare(%q) = %d", a, b, got)
		}
		if want := cmp.Compare(a.String(), b.String()); want != 0 && got != want {
			t.Fatalf("O2: %q.Compare(%q) = %d, want %d", a, b, got, want)
		}
		if back := b.Compare(a); back != -got {
			t.Fatalf("Compare is not antisymmetric: %d and %d", got, back)
		}
	})
}

func TestO2_SortedKeys(t *testing.T) {
	keys := []Key{{"a", "x"}, {"kube", "z"}, {"a-b", "x"}, {"kube-system", "a"}}
	slices.SortFunc(keys, Key.Compare)
	want := []Key{{"a-b", "x"}, {"a", "x"}, {"kube-system", "a"}, {"kube", "z"}}
	if !slices.Equal(keys, want) {
		t.Errorf("sorted: %v, want %v", keys, want)
	}
}

func TestO3_ParseKey(t *testing.T) {
	for _, key := range []Key{{"default", "web-0"}, {"", "node-1"}} {
		got, err := ParseKey(key.String())
		if err != nil || got != key {
			t.Errorf("ParseKey(%q) = %v, %v", key.String(), got, err)
		}
	}
	for _, bad := range []string{"", "/", "ns/", "/name", "a/b/c"} {
		_, err := ParseKey(bad)
		var keyErr *KeyError
		if !errors.As(err, &keyErr) || keyErr.Input != bad {
			t.Errorf("ParseKey(%q): error %v, want a *KeyError about it", bad, err)
		}
	}
}

func TestKeyOf(t *testing.T) {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7"}}
	item, err := NewItem(obj, nil)
	if err != nil || item.Key != (Key{"ns", "a"}) || item.UID != "u" || item.ResourceVersion != "7" || item.Object != obj {
		t.Errorf("NewItem = %+v, %v", item, err)
	}
	obj.Name = ""
	if _, err := NewItem(obj, nil); err == nil {
		t.Error("an object without a name got a key")
	}
}
