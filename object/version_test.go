package object

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestO4_CompareVersions(t *testing.T) {
	tests := []struct {
		a, b string
		want int
		why  string
	}{
		{"9", "10", -1, "by number, not by bytes"},
		{"10", "10", 0, "equal"},
		{"18446744073709551616", "18446744073709551615", 1, "larger than 64 bits"},
	}
	for _, tt := range tests {
		got, err := CompareVersions(tt.a, tt.b)
		if err != nil || got != tt.want {
			t.Errorf("CompareVersions(%q, %q) = %d, %v; want %d: %s", tt.a, tt.b, got, err, tt.want, tt.why)
		}
	}
	for _, bad := range []string{"", "0", "007", "-1", "1a", "１"} {
		_, err := CompareVersions(bad, "5")
		var versionErr *VersionError
		if !errors.As(err, &versionErr) {
			t.Errorf("CompareVersions(%q, \"5\"): error %v, want a *VersionError", bad, err)
		}
		if Newer(bad, "5") || Newer("5", bad) {
			t.Errorf("Newer guessed an order for %q", bad)
		}
	}
	if !Newer("10", "9") || Newer("9", "10") || Newer("9", "9") {
		t.Error("Newer disagrees with CompareVersions")
	}
}

func TestSameVersion(t *testing.T) {
	item := func(uid, rv string) Item[*metav1.PartialObjectMetadata] {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: rv}}
		it, _ := NewItem(obj, nil)
		it.UID = types.UID(uid)
		return it
	}
	if !item("x", "5").SameVersion(item("x", "5")) {
		t.Error("equal UID and resourceVersion: want the same version")
	}
	if item("x", "5").SameVersion(item("y", "5")) {
		t.Error("another UID is another object")
	}
	if item("x", "").SameVersion(item("x", "")) {
		t.Error("without a resourceVersion nothing is known to be the same")
	}
}

func TestUsableVersion(t *testing.T) {
	if UsableVersion("") || UsableVersion("0") || !UsableVersion("1") {
		t.Error("only \"\" and \"0\" name no point in history")
	}
}
