package informer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/indexer"
)

type queryPod = *corev1.Pod

// readField is what the fields of the property test are, read by hand.
var readField = map[string]func(queryPod) []string{
	"status.phase":          func(p queryPod) []string { return []string{string(p.Status.Phase)} },
	"spec.nodeName":         func(p queryPod) []string { return []string{p.Spec.NodeName} },
	"metadata.namespace":    func(p queryPod) []string { return []string{p.Namespace} },
	"metadata.name":         func(p queryPod) []string { return []string{p.Name} },
	"metadata.labels[tier]": func(p queryPod) []string { return []string{p.Labels["tier"]} },
	"spec.containers.image": func(p queryPod) (images []string) {
		for _, c := range p.Spec.Containers {
			images = append(images, c.Image)
		}
		if len(images) == 0 {
			return []string{""}
		}
		return images
	},
}

func randomPod(r *rand.Rand) queryPod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: []string{"a", "a-b", "b", "c"}[r.IntN(4)], Name: fmt.Sprint("p", r.IntN(30)),
		ResourceVersion: fmt.Sprint(r.IntN(1 << 30)), Labels: map[string]string{},
	}}
	p.Status.Phase = []corev1.PodPhase{"", "Running", "Pending"}[r.IntN(3)]
	p.Spec.NodeName = []string{"", "n1", "n2"}[r.IntN(3)]
	for _, l := range []string{"app", "tier"} {
		if v := r.IntN(5); v < 4 {
			p.Labels[l] = []string{"", "1", "2", "3"}[v]
		}
	}
	for range r.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Image: fmt.Sprint("i", r.IntN(3))})
	}
	return p
}

func randomOptions(r *rand.Rand) (opts metav1.ListOptions, field func(queryPod) bool) {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	var terms []string
	for range r.IntN(3) {
		l := pick("app", "tier")
		terms = append(terms, pick(l, "!"+l, l+"=1", l+"==2", l+"=", l+"!=1", l+" in (1,2)", l+" in (3,3,)", l+" notin (1,2)", l+">1", l+"<3"))
	}
	opts.LabelSelector = strings.Join(terms, ",")
	terms = nil
	field = func(queryPod) bool { return true }
	for range r.IntN(3) {
		path := pick("status.phase", "spec.nodeName", "metadata.namespace", "metadata.name", "metadata.labels[tier]", "spec.containers.image")
		op := pick("=", "==", "!=")
		value := pick("", "Running", "Pending", "n1", "n2", "1", "a", "a-b", "p1", "p2", "i0", "i1")
		if path == "status.phase" {
			value = pick("", "Running", "Pending")
		}
		terms = append(terms, path+op+value)
		before := field
		field = func(p queryPod) bool {
			return before(p) && slices.Contains(readField[path](p), value) == (op != "!=")
		}
	}
	opts.FieldSelector = strings.Join(terms, ",")
	return opts, field
}

// Whatever indexes there are, since when ever, and in pages of any size, the
// answer is what going through all objects with the API's own selectors finds.
func TestListEqualsScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	used := map[string]int{}
	for round := range 60 {
		store := indexer.New[queryPod](nil)
		fill := func(n int) {
			for range n {
				if p := randomPod(r); r.IntN(5) == 0 {
					_ = store.Delete(p)
				} else if err := store.Update(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill(60)
		if round%3 > 0 {
			if err := store.AddFieldIndexes("status.phase", "spec.containers.image", "metadata.labels.tier", "spec.nodeName"); err != nil {
				t.Fatal(err)
			}
			if err := store.AddLabelIndexes("app", "tier"); err != nil {
				t.Fatal(err)
			}
		}
		fill(60)
		if round%3 == 2 {
			if err := store.RemoveIndexer("spec.nodeName"); err != nil {
				t.Fatal(err)
			}
		}
		lister := Lister[queryPod]{store: store, resource: schema.GroupResource{Resource: "pods"}}
		for range 60 {
			opts, field := randomOptions(r)
			namespace := []string{"", "", "a", "a-b", "none"}[r.IntN(5)]
			selector, err := labels.Parse(opts.LabelSelector)
			if err != nil {
				t.Fatal(err)
			}
			var want []queryPod
			for _, p := range store.List() {
				if (namespace == "" || p.Namespace == namespace) && selector.Matches(labels.Set(p.Labels)) && field(p) {
					want = append(want, p)
				}
			}
			got, err := lister.Namespace(namespace).List(opts)
			explained, _ := lister.Namespace(namespace).Explain(opts)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q of %+v: %d objects, %v; want %d. %s", namespace, opts, len(got), err, len(want), explained)
			}
			used[explained.Index]++
			if explained.Candidates < len(want) {
				t.Fatalf("%+v has %d results of %d candidates", opts, len(want), explained.Candidates)
			}
			var paged []queryPod
			for opts.Limit = int64(1 + r.IntN(9)); ; {
				page, err := lister.Namespace(namespace).Page(opts)
				if err != nil || int64(len(page.Items)) > opts.Limit {
					t.Fatalf("%+v: %d items, %v", opts, len(page.Items), err)
				}
				paged = append(paged, page.Items...)
				left := int64(len(want) - len(paged))
				if page.RemainingItemCount != nil && *page.RemainingItemCount != left || (page.Continue != "") != (left > 0) {
					t.Fatalf("%+v: %d are left, continue %q", opts, left, page.Continue)
				}
				if opts.Continue = page.Continue; page.Continue == "" {
					break
				}
			}
			if !slices.Equal(paged, want) {
				t.Fatalf("%+v: pages hold %d objects, want %d", opts, len(paged), len(want))
			}
		}
	}
	for _, name := range []string{"", "status.phase", "spec.containers.image", "metadata.labels[app]", "metadata.labels[tier]", "spec.nodeName"} {
		if used[name] == 0 {
			t.Errorf("index %q was never chosen: %v", name, used)
		}
	}
}
