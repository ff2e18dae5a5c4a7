package deltafifo

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type obj = *metav1.PartialObjectMetadata

// it makes an item from "name" or "ns/name" and a version.
func it(key, rv string) object.Item[obj] {
	k, err := object.ParseKey(key)
	if err != nil {
		panic(err)
	}
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name, ResourceVersion: rv}}
	return object.Item[obj]{Key: k, ResourceVersion: rv, Object: o}
}

// its makes items from words such as "a1 b2": one letter, then the version.
func its(words string) []object.Item[obj] {
	var items []object.Item[obj]
	for w := range strings.FieldsSeq(words) {
		items = append(items, it(w[:1], w[1:]))
	}
	return items
}

// store is what a consumer holds: the KnownObjects of the tests.
type store map[object.Key]object.Item[obj]

func storeOf(words string) store {
	s := store{}
	for _, item := range its(words) {
		s[item.Key] = item
	}
	return s
}

func (s store) Keys() iter.Seq[object.Key] {
	keys := make([]object.Key, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, object.Key.Compare)
	return slices.Values(keys)
}

func (s store) Item(key object.Key) (object.Item[obj], bool) {
	item, ok := s[key]
	return item, ok
}

// text writes deltas down, in the short form that the tables use:
// +a1 ~a2 -a3 (added, updated, deleted), =a1 (replaced), ?a1 (sync), !a1
// (tombstone), [a1 b2 @7] (replaced all), ?? (sync all), @7 (bookmark).
func text(deltas []Delta[obj]) string {
	var words []string
	for _, d := range deltas {
		item := d.Item.Key.String() + d.Item.ResourceVersion
		switch d.Type {
		case Added:
			item = "+" + item
		case Updated:
			item = "~" + item
		case Replaced:
			item = "=" + item
		case Sync:
			item = "?" + item
		case Deleted:
			if d.FinalStateUnknown {
				item = "!" + item
			} else {
				item = "-" + item
			}
		case SyncAll:
			item = "??"
		case Bookmark:
			item = "@" + d.Item.ResourceVersion
		case ReplacedAll:
			item = "["
			for _, it := range d.List.Items {
				item += it.Key.String() + it.ResourceVersion + " "
			}
			item += "@" + d.List.ResourceVersion + "]"
		default:
			item = fmt.Sprintf("%v(%s)", d.Type, item)
		}
		words = append(words, item)
	}
	return strings.Join(words, " ")
}

// run makes the writes that a script of the same form names, and ?? for a
// Resync. {a1 b2 @7 k} is a Replace that keeps k.
func run(t testing.TB, q Queue[obj], script string) {
	t.Helper()
	ctx := context.Background()
	for word := range strings.SplitSeq(strings.NewReplacer("{", "\n{", "}", "}\n").Replace(script), "\n") {
		if strings.HasPrefix(word, "{") {
			must(t, q.Replace(ctx, listOf(strings.Trim(word, "{}"))))
			continue
		}
		for w := range strings.FieldsSeq(word) {
			switch {
			case w == "??":
				must(t, q.Resync(ctx))
			case w[0] == '@':
				must(t, q.Bookmark(ctx, w[1:]))
			case w[0] == '+':
				must(t, q.Add(ctx, it(w[1:2], w[2:])))
			case w[0] == '~':
				must(t, q.Update(ctx, it(w[1:2], w[2:])))
			case w[0] == '-':
				must(t, q.Delete(ctx, it(w[1:2], w[2:])))
			default:
				t.Fatalf("script: %q", w)
			}
		}
	}
}

func listOf(words string) List[obj] {
	var l List[obj]
	for w := range strings.FieldsSeq(words) {
		switch {
		case w[0] == '@':
			l.ResourceVersion = w[1:]
		case len(w) == 1:
			l.Keep = append(l.Keep, object.Key{Name: w})
		default:
			l.Items = append(l.Items, its(w)...)
		}
	}
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// popText pops one batch and writes it down.
func popText(t testing.TB, q Queue[obj]) string {
	t.Helper()
	var got string
	must(t, q.PopBatch(context.Background(), func(d []Delta[obj]) error { got = text(d); return nil }))
	return got
}

// both runs a test on each kind of queue.
func both(t *testing.T, opts Options[obj], test func(t *testing.T, q Queue[obj])) {
	t.Run("InOrder", func(t *testing.T) { q := NewInOrder(opts); test(t, q); checkInvariants(t, q) })
	t.Run("DeltaFIFO", func(t *testing.T) { f := NewDeltaFIFO(opts); test(t, f); checkInvariants(t, f) })
}
