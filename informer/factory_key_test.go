package informer_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

// quietFactory is a factory whose log nobody reads.
func quietFactory(server *apisim.Server, opts ...informer.FactoryOption) *informer.Factory {
	return informer.NewFactory(server.Config(), append([]informer.FactoryOption{new(logLines).option()}, opts...)...)
}

// request asks a factory for pods and fails the test if it can't.
func request(t *testing.T, f *informer.Factory, opts ...informer.InformerOption) *informer.Informer[pod] {
	t.Helper()
	pods, err := informer.For[pod](f, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

// Who shares an informer gets what it asked for, and who asks for something
// else gets another informer or an error, never silently the wrong objects.
func TestH11_WhoShares(t *testing.T) {
	type options = []informer.InformerOption
	strip := informer.NewTransform("strip", func(p pod) (pod, error) { return p, nil })
	other := informer.NewTransform("other", func(p pod) (pod, error) { return p, nil })
	twin := informer.NewTransform("strip", func(p pod) (pod, error) { return p, nil })
	mine := informer.NewFilter("mine", func(pod) bool { return true })
	for _, tt := range []struct {
		name          string
		factory       []informer.FactoryOption
		first, second options
		shared        bool
		differ        []string // of a MismatchError: have/asked of transform, filter
		why           string
	}{
		{"nothing", nil, nil, nil, true, nil, "the same request"},
		{"same namespace", nil, options{informer.WithNamespace("a")}, options{informer.WithNamespace("a")}, true, nil, ""},
		{"other namespace", nil, options{informer.WithNamespace("a")}, options{informer.WithNamespace("b")}, false, nil, "other objects"},
		{"one and all", nil, options{informer.WithNamespace("a")}, nil, false, nil, "other objects"},
		{"set in another order", nil, options{informer.WithNamespaces("a", "b")}, options{informer.WithNamespaces("b", "a", "b")}, true, nil, "a set"},
		{"subset", nil, options{informer.WithNamespaces("a", "b")}, options{informer.WithNamespaces("a")}, false, nil, "other objects"},
		{"set of one", nil, options{informer.WithNamespaces("a")}, options{informer.WithNamespace("a")}, true, nil, "the same objects"},
		{"the factory's", []informer.FactoryOption{informer.WithNamespace("a")}, nil, options{informer.WithNamespace("a")}, true, nil, "the factory's options are what a request begins with"},
		{"not the factory's", []informer.FactoryOption{informer.WithNamespace("a")}, options{informer.WithNamespace("")}, nil, false, nil, "a request's options are stronger"},
		{"label selector", nil, options{informer.WithLabelSelector("app=web")}, nil, false, nil, "other objects"},
		{"label selector in another order", nil, options{informer.WithLabelSelector("app=web,tier in (x, y)")}, options{informer.WithLabelSelector("tier in (y,x),app=web")}, true, nil, "the same objects"},
		{"field selector", nil, options{informer.WithFieldSelector("spec.nodeName=n1")}, options{informer.WithFieldSelector("spec.nodeName=n2")}, false, nil, "other objects"},
		{"field selector in another order", nil, options{informer.WithFieldSelector("spec.nodeName=n1,status.phase!=Failed")}, options{informer.WithFieldSelector("status.phase!=Failed,spec.nodeName==n1")}, true, nil, "the same objects"},
		{"field and label", nil, options{informer.WithLabelSelector("a=b")}, options{informer.WithFieldSelector("a=b")}, false, nil, "selectors of two kinds"},
		{"same transform", nil, options{informer.WithTransform(strip)}, options{informer.WithTransform(strip)}, true, nil, "one pointer"},
		{"other transform", nil, options{informer.WithTransform(strip)}, options{informer.WithTransform(other)}, false, []string{"strip/other", "-"}, "the objects aren't the ones asked for"},
		{"no transform", nil, options{informer.WithTransform(strip)}, nil, false, []string{"strip/", "-"}, "they lack what was stripped"},
		{"late transform", nil, nil, options{informer.WithTransform(strip)}, false, []string{"/strip", "-"}, "they still have it"},
		{"transform of the same name", nil, options{informer.WithTransform(strip)}, options{informer.WithTransform(twin)}, false, []string{"strip/strip", "-"}, "functions can't be compared, pointers can"},
		{"the factory's transform", []informer.FactoryOption{informer.WithTransform(strip)}, nil, options{informer.WithTransform(strip)}, true, nil, "the same in both"},
		{"none instead of the factory's", []informer.FactoryOption{informer.WithTransform(strip)}, nil, options{informer.WithTransform[pod](nil)}, false, []string{"strip/", "-"}, "nil is none"},
		{"filter", nil, options{informer.WithFilter(mine)}, nil, false, []string{"-", "mine/"}, "some objects are missing"},
		{"both", nil, options{informer.WithFilter(mine)}, options{informer.WithTransform(strip)}, false, []string{"/strip", "mine/"}, "both are named"},
		{"transform of another informer", nil, options{informer.WithNamespace("a"), informer.WithTransform(strip)}, options{informer.WithNamespace("b")}, false, nil, "they have nothing to do with each other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := quietFactory(apisim.New(), tt.factory...)
			request(t, f, tt.first...)
			second, err := informer.For[pod](f, tt.second...)
			want := 2
			if tt.shared || tt.differ != nil {
				want = 1
			}
			if n := len(f.Informers()); n != want {
				t.Errorf("%d informers, want %d: %s", n, want, tt.why)
			}
			if tt.differ == nil {
				if err != nil {
					t.Errorf("error %v: %s", err, tt.why)
				}
				return
			}
			if second != nil {
				t.Error("an informer beside the error")
			}
			got := map[string]string{"transform": "-", "filter": "-"}
			for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
				var e *informer.MismatchError
				if !errors.As(err, &e) || e.Name != "pods" {
					t.Fatalf("error %v, want a *MismatchError about pods", err)
				}
				got[e.Setting] = e.Have + "/" + e.Asked
				if text := e.Error(); !strings.Contains(text, e.Setting) || !strings.Contains(text, e.Have) || !strings.Contains(text, e.Asked) {
					t.Errorf("the error doesn't say what differs: %v", text)
				}
			}
			if got["transform"] != tt.differ[0] || got["filter"] != tt.differ[1] {
				t.Errorf("differences %v, want %q: %s", got, tt.differ, tt.why)
			}
			f.Shutdown()
		})
	}
}

// A refused request holds nothing: the informer ends with those who have it.
func TestH12_AMismatchIsNoLease(t *testing.T) {
	f := quietFactory(apisim.New())
	first := request(t, f)
	strip := informer.NewTransform("strip", func(p pod) (pod, error) { return p, nil })
	if _, err := informer.For[pod](f, informer.WithTransform(strip)); err == nil {
		t.Fatal("no error")
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second := request(t, f, informer.WithTransform(strip))
	if n := len(f.Informers()); n != 1 {
		t.Errorf("%d informers", n)
	}
	if err := second.Release(); err != nil {
		t.Fatal(err)
	}
	f.Shutdown()
}

// Each type has an informer of its own, and cluster-scoped kinds have one
// whatever the namespace.
func TestH11_TypesAndScopes(t *testing.T) {
	f := quietFactory(apisim.New(), informer.WithNamespaces("a", "b"))
	defer f.Shutdown()
	request(t, f)
	for range 2 {
		if _, err := informer.ForResource[*unstructured.Unstructured](f, podsGVR); err != nil {
			t.Fatal(err)
		}
		if _, err := informer.ForResource[*metav1.PartialObjectMetadata](f, podsGVR); err != nil {
			t.Fatal(err)
		}
		for _, ns := range []string{"", "c"} {
			if _, err := informer.For[*corev1.Node](f, informer.WithNamespace(ns)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(f.Informers()); n != 4 {
		t.Errorf("%d informers, want three of pods and one of nodes", n)
	}
}

func TestRequestsThatCantBe(t *testing.T) {
	nodes := informer.NewTransform("tainted", func(n *corev1.Node) (*corev1.Node, error) { return n, nil })
	ready := informer.NewFilter("ready", func(*corev1.Node) bool { return true })
	for _, tt := range []struct {
		opt  informer.InformerOption
		says string
		why  string
	}{
		{informer.WithNamespaces(), "needs a namespace", "none must not become all"},
		{informer.WithNamespaces("a", ""), `""`, "all among some is a mistake"},
		{informer.WithLabelSelector("app=web=x"), "LabelSelector", "the server would refuse it, again and again"},
		{informer.WithFieldSelector("phase"), "FieldSelector", "the same"},
		{informer.WithTransform(nodes), `"tainted" is for *v1.Node`, "it can't be called with a pod"},
		{informer.WithFilter(ready), `"ready" is for *v1.Node`, "the same"},
	} {
		f := quietFactory(apisim.New())
		if _, err := informer.For[pod](f, tt.opt); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error %v, want %q in it: %s", err, tt.says, tt.why)
		}
		if n := len(f.Informers()); n != 0 {
			t.Errorf("%d informers after an error", n)
		}
		var selector *informer.ListOptionsError
		if _, err := informer.For[pod](quietFactory(apisim.New(), tt.opt)); err == nil || strings.Contains(tt.says, "Selector") != errors.As(err, &selector) {
			t.Errorf("as the factory's option: error %v", err)
		}
	}
}

// What is asked for is what the store holds: the namespaces, the selectors in
// any way of writing, and what transform and filter leave.
func TestFactorySelectsAndTransforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for _, key := range []object.Key{{Namespace: "a", Name: "one"}, {Namespace: "a", Name: "two"}, {Namespace: "b", Name: "one"}, {Namespace: "c", Name: "one"}} {
			create(t, server, key.Namespace, key.Name)
		}
		var mu sync.Mutex
		var queries []string
		server.SetFault(func(r *http.Request) apisim.Fault {
			mu.Lock()
			defer mu.Unlock()
			queries = append(queries, r.URL.Path+" "+r.URL.Query().Get("labelSelector"))
			return nil
		})
		strip := informer.NewTransform("labels", func(obj metav1.Object) (metav1.Object, error) {
			if obj.GetName() == "two" && obj.GetNamespace() == "c" {
				return &corev1.Node{}, nil
			}
			obj.SetLabels(nil)
			return obj, nil
		})
		notTwo := informer.NewFilter("not two", func(obj metav1.Object) bool { return obj.GetName() != "two" })
		f := quietFactory(server, informer.WithTransform(strip), informer.WithFilter(notTwo))
		two := request(t, f, informer.WithNamespaces("b", "a"), informer.WithLabelSelector("app notin (db),app=web"))
		c := request(t, f, informer.WithNamespaces("c"))
		start(t, f)
		if got := two.GetIndexer().ListKeys(); !slices.Equal(got, []string{"a/one", "b/one"}) {
			t.Errorf("of two namespaces: %v", got)
		}
		for _, p := range two.GetIndexer().List() {
			if len(p.Labels) > 0 {
				t.Errorf("%s has not been transformed", p.Name)
			}
		}
		if ns := two.Namespaces(); !slices.Equal(ns, []string{"a", "b"}) {
			t.Errorf("namespaces %v", ns)
		}
		mu.Lock()
		if !slices.Contains(queries, "/api/v1/namespaces/a/pods app notin (db),app=web") {
			t.Errorf("the requests were %q", queries)
		}
		mu.Unlock()
		if err := two.AddNamespace("c"); !errors.Is(err, informer.ErrFactoryScope) {
			t.Errorf("AddNamespace: %v; others would get what they didn't ask for", err)
		}

		create(t, server, "c", "two")
		synctest.Wait()
		if st := c.Status(); st.Objects != 1 || st.Quarantined != 1 {
			t.Errorf("%d objects, %d quarantined; a transform must return the informer's type", st.Objects, st.Quarantined)
		}
	})
}
