package indexer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

func nsItem(namespace, name, rv string) object.Item[*corev1.Pod] {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: rv}}
	item, err := object.NewItem(p, nil)
	if err != nil {
		panic(err)
	}
	return item
}

// Two reflectors once shared a store, and the list of one wiped what the other
// had put there. A replacement is limited to its namespace.
func TestS11_ReplaceNamespaceLeavesTheOthersAlone(t *testing.T) {
	tests := []struct {
		namespace string
		items     []object.Item[*corev1.Pod]
		keep      []object.Key
		want      []string
		changes   []string
		why       string
	}{
		{"a", nil, nil, []string{"a-b/x", "a.b/x", "z", "aa/x", "b/x"}, []string{"Deleted a/x", "Deleted a/y"}, "an empty list empties one namespace"},
		{"a", []object.Item[*corev1.Pod]{nsItem("a", "y", "2"), nsItem("a", "w", "3")}, nil,
			[]string{"a-b/x", "a.b/x", "a/w", "a/y", "aa/x", "b/x", "z"}, []string{"Added a/w", "Deleted a/x", "Updated a/y"}, "a difference"},
		{"a", []object.Item[*corev1.Pod]{nsItem("a", "x", "1")}, []object.Key{{Namespace: "a", Name: "y"}},
			[]string{"a-b/x", "a.b/x", "a/x", "a/y", "aa/x", "b/x", "z"}, nil, "kept, and the same version"},
		{"a", []object.Item[*corev1.Pod]{nsItem("b", "x", "9"), nsItem("a", "x", "1"), nsItem("a", "y", "1")}, nil,
			[]string{"a-b/x", "a.b/x", "a/x", "a/y", "aa/x", "b/x", "z"}, nil, "an item of another namespace is left out"},
		{"none", nil, nil, []string{"a-b/x", "a.b/x", "a/x", "a/y", "aa/x", "b/x", "z"}, nil, "a namespace without objects"},
		{"", nil, nil, []string{"a-b/x", "a.b/x", "a/x", "a/y", "aa/x", "b/x"}, []string{"Deleted z"}, "no namespace is a namespace too"},
	}
	for _, tt := range tests {
		ix := New[*corev1.Pod](nil)
		var b Batch[*corev1.Pod]
		for _, key := range []object.Key{{Namespace: "a-b", Name: "x"}, {Namespace: "a.b", Name: "x"}, {Namespace: "a", Name: "x"}, {Namespace: "a", Name: "y"}, {Namespace: "aa", Name: "x"}, {Namespace: "b", Name: "x"}, {Name: "z"}} {
			b.Set(nsItem(key.Namespace, key.Name, "1"))
		}
		ix.Commit(&b, "1")
		before, after, errs := ix.ReplaceNamespace(tt.namespace, tt.items, tt.keep, "")
		if errs != nil {
			t.Fatal(errs)
		}
		got := ix.ListKeys()
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the store holds %v, want %v", tt.why, got, tt.want)
		}
		var changes []string
		for c := range Diff(before, after) {
			changes = append(changes, fmt.Sprint(c.Type, " ", c.Key()))
		}
		if !slices.Equal(changes, tt.changes) {
			t.Errorf("%s: changes %v, want %v", tt.why, changes, tt.changes)
		}
	}
}

// A namespace replaced in a store of many is the same as the whole store
// replaced by what it held before, with that namespace's part exchanged.
func TestS11_ReplaceNamespaceModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	namespaces := []string{"", "a", "a-b", "a.b", "a0", "aa", "b"}
	scoped, whole := New[*corev1.Pod](nil), New[*corev1.Pod](nil)
	for step := range 500 {
		ns := namespaces[rnd.IntN(len(namespaces))]
		var items []object.Item[*corev1.Pod]
		for name := range 20 {
			if rnd.IntN(2) == 0 {
				items = append(items, nsItem(ns, fmt.Sprintf("%c", 'a'+name), fmt.Sprint(step/20+1)))
			}
		}
		all := slices.Clone(items)
		for item := range whole.Snapshot().Items() {
			if item.Key.Namespace != ns {
				all = append(all, *item)
			}
		}
		rv := fmt.Sprint(step + 1)
		scoped.ReplaceNamespace(ns, items, nil, rv)
		whole.ReplaceItems(all, nil, rv)
		if got, want := scoped.ListKeys(), whole.ListKeys(); !slices.Equal(got, want) {
			t.Fatalf("step %d, namespace %q: %v, want %v", step, ns, got, want)
		}
		for item := range whole.Snapshot().Items() {
			if got, ok := scoped.Item(item.Key); !ok || got.ResourceVersion != item.ResourceVersion {
				t.Fatalf("step %d: %s is at %s, want %s", step, item.Key, got.ResourceVersion, item.ResourceVersion)
			}
		}
	}
}

func TestDeleteBecauseHandsTheCauseThrough(t *testing.T) {
	ix := New[*corev1.Pod](nil)
	var b Batch[*corev1.Pod]
	b.Set(nsItem("a", "x", "1"))
	b.DeleteBecause(3, object.Item[*corev1.Pod]{Key: object.Key{Namespace: "a", Name: "x"}})
	b.Set(nsItem("a", "y", "1"))
	b.Delete(object.Item[*corev1.Pod]{Key: object.Key{Namespace: "a", Name: "y"}})
	var causes []uint8
	for _, c := range ix.Commit(&b, "").Changes {
		causes = append(causes, c.Cause)
	}
	if want := []uint8{0, 3, 0, 0}; !slices.Equal(causes, want) {
		t.Errorf("causes %v, want %v", causes, want)
	}
}
