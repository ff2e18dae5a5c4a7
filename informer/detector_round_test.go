package informer

import (
	"log/slog"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// A round finds what changed between two events of an object, and says it once.
// What is remembered is bounded.
func TestDetectorRound(t *testing.T) {
	var found []error
	d := newDetector[partial]("pods", 1, slog.New(slog.DiscardHandler), func(err error) { found = append(found, err) })
	items := make([]object.Item[partial], 2*maxSamples)
	for n := range items {
		items[n] = object.Item[partial]{Key: object.Key{Namespace: "ns", Name: string(rune('a' + n))}, Object: &metav1.PartialObjectMetadata{}}
		d.stored(&items[n])
	}
	if len(d.samples) != maxSamples {
		t.Errorf("%d versions are remembered, want %d", len(d.samples), maxSamples)
	}
	d.round()
	if len(found) != 0 {
		t.Fatalf("nothing was changed, and found %v", found)
	}
	last := &items[len(items)-1]
	d.told(last, "vandal")
	last.Object.Labels = map[string]string{"mine": "yes"}
	d.round()
	d.round()
	want := "pods: the stored object ns/" + last.Key.Name + " at version  was changed in place; the last handler that was told of it is vandal. " +
		"Stored objects are shared: copy one (DeepCopy) before changing it"
	if len(found) != 1 || found[0].Error() != want {
		t.Errorf("found %v, want once %s", found, want)
	}
}
