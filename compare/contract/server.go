package contract

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim/fault"
)

func pods() schema.GroupVersionResource { return corev1.SchemeGroupVersion.WithResource("pods") }

// truth is what the Subject is to have: the server's state, as its scope and its
// selector let it be seen.
func (w *world) truth() state {
	selector, err := labels.Parse(w.config.LabelSelector)
	if err != nil {
		panic(err) // a mistake in the suite
	}
	objects, _, err := w.server.List(pods(), w.config.Namespace)
	if err != nil {
		panic(err)
	}
	s := make(state)
	for _, obj := range objects {
		if pod := obj.(*corev1.Pod); selector.Matches(labels.Set(pod.Labels)) {
			s[keyOf(pod)] = version{string(pod.UID), pod.ResourceVersion}
		}
	}
	return s
}

func newPod(name string) *corev1.Pod {
	namespace, name, _ := strings.Cut(fullKey(name), "/")
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
	}
}

func (w *world) create(names ...string) {
	for _, name := range names {
		obj, err := w.server.Create(pods(), newPod(name))
		if err != nil {
			panic(err)
		}
		w.do("create %s, version %s", name, obj.(*corev1.Pod).ResourceVersion)
	}
}

// get returns the pod on the server.
func (w *world) get(name string) *corev1.Pod {
	namespace, name, _ := strings.Cut(fullKey(name), "/")
	obj, err := w.server.Get(pods(), namespace, name)
	if err != nil {
		panic(err)
	}
	return obj.(*corev1.Pod).DeepCopy()
}

// change updates a pod on the server.
func (w *world) change(name string, edit func(*corev1.Pod)) *corev1.Pod {
	pod := w.get(name)
	edit(pod)
	obj, err := w.server.Update(pods(), pod)
	if err != nil {
		panic(err)
	}
	return obj.(*corev1.Pod)
}

// update changes something about each of the pods.
func (w *world) update(names ...string) {
	for _, name := range names {
		w.turn++
		pod := w.change(name, func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{"turn": strconv.Itoa(w.turn)}
		})
		w.do("update %s, version %s", name, pod.ResourceVersion)
	}
}

// relabel gives a pod another label app.
func (w *world) relabel(name, app string) {
	pod := w.change(name, func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": app} })
	w.do("label %s app=%s, version %s", name, app, pod.ResourceVersion)
}

// delete deletes pods and returns the version of the last deletion.
func (w *world) delete(names ...string) (rv string) {
	for _, name := range names {
		namespace, short, _ := strings.Cut(fullKey(name), "/")
		obj, err := w.server.Delete(pods(), namespace, short)
		if err != nil {
			panic(err)
		}
		rv = obj.(*corev1.Pod).ResourceVersion
		w.do("delete %s, version %s", name, rv)
	}
	return rv
}

// away cuts the Subject off while do changes the server, and makes the server
// forget what happened meanwhile. Afterwards only a new list can tell.
func (w *world) away(do func()) {
	w.cut(do, true)
}

// apart cuts the Subject off while do changes the server. Afterwards a watch can
// tell what happened.
func (w *world) apart(do func()) {
	w.cut(do, false)
}

func (w *world) cut(do func(), forget bool) {
	w.do("the server is not to be reached any more")
	w.faults.On(fault.Any).Do(fault.Break())
	w.server.CloseWatches()
	w.pass(time.Second)
	do()
	if forget {
		w.do("the server forgets its history")
		w.server.Compact()
	}
	w.faults.Clear()
	w.do("the server is back")
}

// fault adds a fault to the story and to the script.
func (w *world) fault(text string, r *fault.Rule, f fault.Fault) *fault.Rule {
	w.do("from now on: %s", text)
	return r.Do(f)
}

// closeWatches ends every watch cleanly.
func (w *world) closeWatches() {
	w.do("the server ends its watches cleanly")
	w.server.CloseWatches()
}

// request is one that the Subject has made.
type request struct {
	op   fault.Op
	page int // of a list: 2 for all but the first
	path string
	rv   string
	at   time.Time
}

// asked counts requests of these kinds since a moment. The further pages of a
// list don't count.
func (w *world) asked(ops fault.Op, since time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, r := range w.requests {
		if r.op&ops != 0 && r.page < 2 && !r.at.Before(since) {
			n++
		}
	}
	return n
}

// wire counts the Subject's requests and brings them to the server.
type wire struct {
	w  *world
	to http.RoundTripper
}

// brake (R3) is how many requests are let through in 10 s before each costs a second.
// Without it, time would stand still for a client that tries again without a
// pause, and the clause would never end.
const brake = 300

func (x *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	op, _ := fault.OpOf(r)
	q := r.URL.Query()
	req := request{op: op, path: r.URL.Path, rv: q.Get("resourceVersion"), at: time.Now()}
	if q.Get("continue") != "" {
		req.page = 2
	}
	w := x.w
	w.mu.Lock()
	w.requests = append(w.requests, req)
	hot := len(w.requests) > brake && time.Since(w.requests[len(w.requests)-brake].at) < 10*time.Second
	w.mu.Unlock()
	if hot {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(time.Second):
		}
	}
	return x.to.RoundTrip(r)
}
