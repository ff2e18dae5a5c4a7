package apisim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	podsPath    = "/api/v1/namespaces/a/pods"
	widgetsPath = "/apis/demo.informer.example/v1/namespaces/a/widgets"
	mergePatch  = "application/merge-patch+json"
	jsonPatch   = "application/json-patch+json"
	strategic   = "application/strategic-merge-patch+json"
	applyPatch  = "application/apply-patch+yaml"
)

func decodePod(t *testing.T, a answer, code int) *corev1.Pod {
	t.Helper()
	if a.code != code {
		t.Fatalf("%d, want %d: %s", a.code, code, a.body)
	}
	var p corev1.Pod
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// S6: what a client sets and what the server sets.
func TestCreateOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		p := decodePod(t, call(t, s, "POST", podsPath, `{"metadata":{"name":"p","uid":"mine","generation":7,"deletionTimestamp":"2020-01-01T00:00:00Z"},"spec":{"nodeName":"n"},"status":{"podIP":"1.2.3.4"}}`), 201)
		if p.Kind != "Pod" || p.APIVersion != "v1" || p.Namespace != "a" || p.ResourceVersion != "101" || p.Generation != 1 {
			t.Errorf("created %+v %+v", p.TypeMeta, p.ObjectMeta)
		}
		if p.UID == "" || p.UID == "mine" || p.DeletionTimestamp != nil || !p.CreationTimestamp.Time.Equal(time.Now()) {
			t.Errorf("what the server sets: %+v", p.ObjectMeta)
		}
		if p.Spec.NodeName != "n" || p.Status.PodIP != "" || p.Status.Phase != corev1.PodPending {
			t.Errorf("spec %v, status %v", p.Spec.NodeName, p.Status)
		}
		g := decodePod(t, call(t, s, "POST", podsPath, `{"metadata":{"generateName":"p-"}}`), 201)
		if !strings.HasPrefix(g.Name, "p-") || len(g.Name) != 7 || g.GenerateName != "p-" {
			t.Errorf("generated %q", g.Name)
		}
	})
}

// S3, E4: each way a write is refused. The store must not have moved.
func TestRefusedWrites(t *testing.T) {
	for _, tc := range []struct {
		why, method, url, body, media string
		code                          int
		reason                        metav1.StatusReason
	}{
		{"exists", "POST", podsPath, `{"metadata":{"name":"p"}}`, "", 409, metav1.StatusReasonAlreadyExists},
		{"no name", "POST", podsPath, `{}`, "", 422, metav1.StatusReasonInvalid},
		{"a name with a slash", "POST", podsPath, `{"metadata":{"name":"a/b"}}`, "", 422, metav1.StatusReasonInvalid},
		{"a name that is a path", "POST", podsPath, `{"metadata":{"name":".."}}`, "", 422, metav1.StatusReasonInvalid},
		{"an RV on create", "POST", podsPath, `{"metadata":{"name":"q","resourceVersion":"5"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"another namespace", "POST", podsPath, `{"metadata":{"name":"q","namespace":"b"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"no namespace in the path", "POST", "/api/v1/pods", `{"metadata":{"name":"q","namespace":"b"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"a namespace on a node", "POST", "/api/v1/nodes", `{"metadata":{"name":"q","namespace":"b"}}`, "", 422, metav1.StatusReasonInvalid},
		{"bad JSON", "POST", podsPath, `{"metadata":`, "", 400, metav1.StatusReasonBadRequest},
		{"not an object", "POST", podsPath, `[]`, "", 400, metav1.StatusReasonBadRequest},
		{"no body", "POST", podsPath, ``, "", 400, metav1.StatusReasonBadRequest},
		{"another kind", "POST", podsPath, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"q"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"a wrong type in a field", "POST", podsPath, `{"metadata":{"name":"q"},"spec":{"nodeName":5}}`, "", 400, metav1.StatusReasonBadRequest},
		{"bad protobuf", "POST", podsPath, "k8s\x00\xff\xff", protoMedia, 400, metav1.StatusReasonBadRequest},
		{"unknown media type", "POST", podsPath, `{}`, "text/plain", 415, metav1.StatusReasonUnsupportedMediaType},
		{"nonsense media type", "POST", podsPath, `{}`, "//", 415, metav1.StatusReasonUnsupportedMediaType},
		{"protobuf for a custom resource", "POST", widgetsPath, "k8s\x00", protoMedia, 415, metav1.StatusReasonUnsupportedMediaType},
		{"a custom object without kind", "POST", widgetsPath, `{"metadata":{"name":"q"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"a custom object of another kind", "POST", widgetsPath, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"dry run", "POST", podsPath + "?dryRun=All", `{"metadata":{"name":"q"}}`, "", 400, metav1.StatusReasonBadRequest},

		{"update of nothing", "PUT", podsPath + "/q", `{"metadata":{"name":"q"}}`, "", 404, metav1.StatusReasonNotFound},
		{"update with an old RV", "PUT", podsPath + "/p", `{"metadata":{"name":"p","resourceVersion":"100","labels":{"x":"y"}}}`, "", 409, metav1.StatusReasonConflict},
		{"update with another UID", "PUT", podsPath + "/p", `{"metadata":{"name":"p","uid":"x","labels":{"x":"y"}}}`, "", 409, metav1.StatusReasonConflict},
		{"status with an old RV", "PUT", podsPath + "/p/status", `{"metadata":{"name":"p","resourceVersion":"100"},"status":{"phase":"Failed"}}`, "", 409, metav1.StatusReasonConflict},
		{"status with another UID", "PUT", podsPath + "/p/status", `{"metadata":{"name":"p","uid":"x"},"status":{"phase":"Failed"}}`, "", 409, metav1.StatusReasonConflict},
		{"update under another name", "PUT", podsPath + "/p", `{"metadata":{"name":"q"}}`, "", 400, metav1.StatusReasonBadRequest},
		{"update of a custom object without RV", "PUT", widgetsPath + "/w", `{"kind":"Widget","apiVersion":"demo.informer.example/v1","metadata":{"name":"w"}}`, "", 422, metav1.StatusReasonInvalid},

		{"patch of nothing", "PATCH", podsPath + "/q", `{}`, mergePatch, 404, metav1.StatusReasonNotFound},
		{"patch with an old RV", "PATCH", podsPath + "/p", `{"metadata":{"resourceVersion":"100","labels":{"a":"b"}}}`, mergePatch, 409, metav1.StatusReasonConflict},
		{"patch that renames", "PATCH", podsPath + "/p", `{"metadata":{"name":"q"}}`, mergePatch, 400, metav1.StatusReasonBadRequest},
		{"patch is no JSON", "PATCH", podsPath + "/p", `{`, mergePatch, 400, metav1.StatusReasonBadRequest},
		{"patch is no object", "PATCH", podsPath + "/p", `"x"`, mergePatch, 400, metav1.StatusReasonBadRequest},
		{"JSON patch is no list", "PATCH", podsPath + "/p", `{}`, jsonPatch, 400, metav1.StatusReasonBadRequest},
		{"JSON patch whose test fails", "PATCH", podsPath + "/p", `[{"op":"test","path":"/metadata/name","value":"x"}]`, jsonPatch, 422, metav1.StatusReasonInvalid},
		{"patch without a media type", "PATCH", podsPath + "/p", `{}`, "", 415, metav1.StatusReasonUnsupportedMediaType},
		{"server-side apply", "PATCH", podsPath + "/p", `{}`, applyPatch, 415, metav1.StatusReasonUnsupportedMediaType},
		{"strategic patch of a custom object", "PATCH", widgetsPath + "/w", `{}`, strategic, 415, metav1.StatusReasonUnsupportedMediaType},
		{"patch to a wrong type", "PATCH", podsPath + "/p", `{"spec":{"nodeName":5}}`, mergePatch, 400, metav1.StatusReasonBadRequest},

		{"delete of nothing", "DELETE", podsPath + "/q", ``, "", 404, metav1.StatusReasonNotFound},
		{"delete with another UID", "DELETE", podsPath + "/p", `{"preconditions":{"uid":"x"}}`, "", 409, metav1.StatusReasonConflict},
		{"delete with an old RV", "DELETE", podsPath + "/p", `{"preconditions":{"resourceVersion":"1"}}`, "", 409, metav1.StatusReasonConflict},
		{"delete with nonsense", "DELETE", podsPath + "/p", `nonsense`, "", 400, metav1.StatusReasonBadRequest},
		{"dry-run delete", "DELETE", podsPath + "/p", `{"dryRun":["All"]}`, "", 400, metav1.StatusReasonBadRequest},

		{"unknown resource", "GET", "/api/v1/cats", ``, "", 404, metav1.StatusReasonNotFound},
		{"unknown subresource", "GET", podsPath + "/p/log", ``, "", 404, metav1.StatusReasonNotFound},
		{"no status subresource", "GET", "/api/v1/namespaces/a/configmaps/c/status", ``, "", 404, metav1.StatusReasonNotFound},
		{"a namespaced object without its namespace", "GET", "/api/v1/pods/p", ``, "", 404, metav1.StatusReasonNotFound},
		{"a node in a namespace", "GET", "/api/v1/namespaces/a/nodes", ``, "", 404, metav1.StatusReasonNotFound},
		{"POST on an object", "POST", podsPath + "/p", `{}`, "", 405, metav1.StatusReasonMethodNotAllowed},
		{"PUT on a collection", "PUT", podsPath, `{}`, "", 405, metav1.StatusReasonMethodNotAllowed},
		{"DELETE of a status", "DELETE", podsPath + "/p/status", ``, "", 405, metav1.StatusReasonMethodNotAllowed},
		{"an unheard-of method", "BREW", podsPath, ``, "", 405, metav1.StatusReasonMethodNotAllowed},
		{"POST to discovery", "POST", "/api", ``, "", 405, metav1.StatusReasonMethodNotAllowed},
		{"get from a bad RV", "GET", podsPath + "/p?resourceVersion=x", ``, "", 400, metav1.StatusReasonBadRequest},
		{"get of nothing", "GET", podsPath + "/q", ``, "", 404, metav1.StatusReasonNotFound},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := New(withWidgets())
			put(t, s, pod("a", "p"))
			if _, err := s.Create(widgets, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w", "namespace": "a"}}}); err != nil {
				t.Fatal(err)
			}
			var headers []string
			if tc.media != "" {
				headers = []string{"Content-Type", tc.media}
			}
			a := call(t, s, tc.method, tc.url, tc.body, headers...)
			if a.code != tc.code {
				t.Fatalf("%d, want %d: %s", a.code, tc.code, a.body)
			}
			if st := a.status(t); st.Reason != tc.reason || int(st.Code) != tc.code || st.Message == "" {
				t.Errorf("Status %+v, want reason %s", st, tc.reason)
			}
			if rv := s.ResourceVersion(); rv != "102" {
				t.Errorf("the store moved to %s", rv)
			}
		})
	}
}

func TestBodyCap(t *testing.T) {
	s := New()
	body := `{"metadata":{"name":"p","annotations":{"x":"` + strings.Repeat("x", maxBody) + `"}}}`
	if a := call(t, s, "POST", podsPath, body); a.code != http.StatusRequestEntityTooLarge || a.status(t).Reason != metav1.StatusReasonRequestEntityTooLarge {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// S2, S3, S6.
func TestUpdateOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		p := decodePod(t, call(t, s, "POST", podsPath, `{"metadata":{"name":"p"},"spec":{"nodeName":"n"}}`), 201)
		created, uid := p.CreationTimestamp, p.UID
		time.Sleep(time.Minute)
		send := func(method, url string) *corev1.Pod {
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			return decodePod(t, call(t, s, method, url, string(b)), 200)
		}

		p.Spec.NodeName = "m"
		p.Status.Phase = corev1.PodRunning
		p.CreationTimestamp = metav1.Time{}
		p.Generation = 99
		p = send("PUT", podsPath+"/p")
		if p.ResourceVersion != "102" || p.Spec.NodeName != "m" || p.Status.Phase != corev1.PodPending || p.Generation != 2 {
			t.Errorf("update: RV %s node %s phase %s generation %d", p.ResourceVersion, p.Spec.NodeName, p.Status.Phase, p.Generation)
		}
		if !p.CreationTimestamp.Equal(&created) || p.UID != uid {
			t.Errorf("update changed what is the server's: %v %v", p.CreationTimestamp, p.UID)
		}

		p.Spec.NodeName = "x"
		p.Status.Phase = corev1.PodRunning
		p = send("PUT", podsPath+"/p/status")
		if p.ResourceVersion != "103" || p.Spec.NodeName != "m" || p.Status.Phase != corev1.PodRunning || p.Generation != 2 {
			t.Errorf("status: RV %s node %s phase %s generation %d", p.ResourceVersion, p.Spec.NodeName, p.Status.Phase, p.Generation)
		}

		// S2
		if p = send("PUT", podsPath+"/p"); p.ResourceVersion != "103" || s.ResourceVersion() != "103" {
			t.Errorf("an update without a change was written as %s", p.ResourceVersion)
		}
		// Without an RV, a built-in object is replaced whatever its version.
		p.ResourceVersion = ""
		p.Labels = map[string]string{"a": "b"}
		if p = send("PUT", podsPath+"/p"); p.ResourceVersion != "104" || p.Generation != 2 {
			t.Errorf("unconditional: RV %s, generation %d", p.ResourceVersion, p.Generation)
		}
	})
}

func TestPatchOverHTTP(t *testing.T) {
	s := New(withWidgets())
	p := pod("a", "p", "l", "1")
	p.Spec.Containers = []corev1.Container{{Name: "x", Image: "x:1"}, {Name: "y", Image: "y:1"}}
	put(t, s, p)
	for _, tc := range []struct{ media, url, body, want string }{
		{mergePatch, podsPath + "/p", `{"metadata":{"labels":{"l":null,"m":"2"}}}`, "102 map[m:2] [x x:1 y y:1] Pending"},
		{jsonPatch, podsPath + "/p", `[{"op":"replace","path":"/spec/containers/1/image","value":"y:2"},{"op":"remove","path":"/metadata/labels"}]`, "103 map[] [x x:1 y y:2] Pending"},
		{strategic, podsPath + "/p", `{"spec":{"containers":[{"name":"x","image":"x:3"}]}}`, "104 map[] [x x:3 y y:2] Pending"},
		{mergePatch, podsPath + "/p", `{"metadata":{}}`, "104 map[] [x x:3 y y:2] Pending"},
		{mergePatch, podsPath + "/p", `{"status":{"phase":"Running"}}`, "104 map[] [x x:3 y y:2] Pending"},
		{mergePatch, podsPath + "/p/status", `{"metadata":{"labels":{"no":"t"}},"status":{"phase":"Running"}}`, "105 map[] [x x:3 y y:2] Running"},
		{mergePatch, podsPath + "/p", `{"metadata":{"resourceVersion":"105","labels":{"a":"b"}}}`, "106 map[a:b] [x x:3 y y:2] Running"},
	} {
		got := decodePod(t, call(t, s, "PATCH", tc.url, tc.body, "Content-Type", tc.media), 200)
		var containers []string
		for _, c := range got.Spec.Containers {
			containers = append(containers, c.Name, c.Image)
		}
		phase := got.Status.Phase
		if phase == "" {
			phase = corev1.PodPending
		}
		if text := fmt.Sprint(got.ResourceVersion, " ", got.Labels, " ", containers, " ", phase); text != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.media, tc.body, text, tc.want)
		}
	}
}

func TestDeleteOverHTTP(t *testing.T) {
	s := New(withWidgets())
	put(t, s, pod("a", "p"))
	put(t, s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "c"}})
	if p := decodePod(t, call(t, s, "DELETE", podsPath+"/p", ""), 200); p.Name != "p" || p.ResourceVersion != "103" {
		t.Errorf("deleting a pod answers %v", p.ObjectMeta)
	}
	a := call(t, s, "DELETE", "/api/v1/namespaces/a/configmaps/c", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`)
	if st := a.status(t); a.code != 200 || st.Status != metav1.StatusSuccess || st.Details.Name != "c" || st.Details.Kind != "configmaps" || st.Details.UID == "" {
		t.Errorf("deleting a config map answers %d %s", a.code, a.body)
	}
}

func TestDeleteCollection(t *testing.T) {
	s := New()
	for i := range 4 {
		put(t, s, pod("a", fmt.Sprint("p", i), "odd", fmt.Sprint(i%2)))
	}
	put(t, s, pod("b", "p1", "odd", "1"))
	a := call(t, s, "DELETE", podsPath+"?labelSelector=odd=1", "")
	if l := a.list(t); l.keys() != "a/p1 a/p3" {
		t.Errorf("deleted %q", l.keys())
	}
	if got := get(t, s, "/api/v1/pods").list(t); got.keys() != "a/p0 a/p2 b/p1" || got.Metadata.ResourceVersion != "107" {
		t.Errorf("left %q @%s", got.keys(), got.Metadata.ResourceVersion)
	}
}

// S6: finalizers hold a deleted object until the last one is removed.
func TestFinalizers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		p := pod("a", "p")
		p.Finalizers = []string{"example.com/x"}
		put(t, s, p)
		w := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=101&timeoutSeconds=1")
		for range 2 { // the second time changes nothing
			held := decodePod(t, call(t, s, "DELETE", podsPath+"/p", ""), 200)
			if held.DeletionTimestamp == nil || held.ResourceVersion != "102" {
				t.Fatalf("marked: %v", held.ObjectMeta)
			}
		}
		decodePod(t, call(t, s, "PATCH", podsPath+"/p", `{"metadata":{"finalizers":null}}`, "Content-Type", mergePatch), 200)
		if a := get(t, s, podsPath+"/p"); a.code != 404 {
			t.Errorf("still there: %s", a.body)
		}
		if events, _ := w.rest(t); text(events) != lines("MODIFIED a/p@102", "DELETED a/p@103") {
			t.Errorf("events %q", text(events))
		}
	})
}

func TestCustomResource(t *testing.T) {
	s := New(withWidgets())
	body := func(rv string, n int) string {
		return fmt.Sprintf(`{"apiVersion":"demo.informer.example/v1","kind":"Widget","metadata":{"name":"w","resourceVersion":%q},"spec":{"n":%d,"f":1.5,"deep":{"l":[1,"x",null]}},"status":{"s":1}}`, rv, n)
	}
	const big = 9007199254740993 // not a float64
	a := call(t, s, "POST", widgetsPath, body("", big))
	if a.code != 201 || !strings.Contains(string(a.body), `"spec":{"deep":{"l":[1,"x",null]},"f":1.5,"n":9007199254740993},"status":{"s":1}`) {
		t.Fatalf("%d %s", a.code, a.body)
	}
	if a = call(t, s, "PUT", widgetsPath+"/w", body("101", 2)); a.code != 200 {
		t.Fatalf("%d %s", a.code, a.body)
	}
	obj, err := s.Get(widgets, "a", "w")
	if err != nil {
		t.Fatal(err)
	}
	u := obj.(*unstructured.Unstructured)
	if n, _, _ := unstructured.NestedInt64(u.Object, "spec", "n"); n != 2 || u.GetGeneration() != 2 || u.GetResourceVersion() != "102" {
		t.Errorf("stored %v", u.Object)
	}
	// A user's own struct, by the direct verbs.
	own := &widget{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w"}, Spec: map[string]int64{"n": 3}}
	if obj, err = s.Apply(widgets, own); err != nil {
		t.Fatal(err)
	}
	u = obj.(*unstructured.Unstructured)
	if n, _, _ := unstructured.NestedInt64(u.Object, "spec", "n"); n != 3 || u.GetKind() != "Widget" || u.GetResourceVersion() != "103" {
		t.Errorf("stored %v", u.Object)
	}
}

// widget is a user's view of the custom resource.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]int64 `json:"spec"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	c := *w
	c.ObjectMeta = *w.ObjectMeta.DeepCopy()
	c.Spec = maps.Clone(w.Spec)
	return &c
}
