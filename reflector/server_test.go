package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"informer.example/apisim"
)

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// running is a reflector on a simulated server, in a bubble.
type running[T metav1.Object] struct {
	t      *testing.T
	server *apisim.Server
	sink   *recorder[T]
	*Reflector[T]
	done chan error
	stop context.CancelFunc
}

func start[T metav1.Object](t *testing.T, server *apisim.Server, gvr schema.GroupVersionResource, so SourceOptions[T], o Options) *running[T] {
	t.Helper()
	src, err := NewHTTPSource(server.Config(), gvr, so)
	if err != nil {
		t.Fatal(err)
	}
	return startSource(t, server, src, o)
}

func startSource[T metav1.Object](t *testing.T, server *apisim.Server, src Source[T], o Options) *running[T] {
	if o.Rand == nil {
		o.Rand = func() float64 { return 0.5 }
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running[T]{t: t, server: server, sink: newRecorder[T](), done: make(chan error, 1), stop: stop}
	r.Reflector = New(src, r.sink, o)
	go func() { r.done <- r.Run(ctx) }()
	synctest.Wait()
	return r
}

// end stops the run and makes sure that it ends well and in no time.
func (r *running[T]) end() {
	r.t.Helper()
	before := time.Now()
	r.stop()
	if err := <-r.done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if took := time.Since(before); took != 0 {
		r.t.Errorf("Run took %v to end", took)
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// must is for writes to the server that can't fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// converged compares the sink with the server, keys and versions.
func (r *running[T]) converged(gvr schema.GroupVersionResource) {
	r.t.Helper()
	objects, _, err := r.server.List(gvr, "")
	if err != nil {
		r.t.Fatal(err)
	}
	want := make([]string, 0, len(objects))
	for _, o := range objects {
		m := o.(metav1.Object)
		want = append(want, m.GetNamespace()+"/"+m.GetName()+"@"+m.GetResourceVersion())
	}
	slices.Sort(want)
	if got := r.sink.keys(); !slices.Equal(got, want) {
		r.t.Errorf("the sink has %d objects:\n%q\nthe server %d:\n%q", len(got), got, len(want), want)
	}
}

// TestServer_Story: list in pages, events, bookmarks, a timeout, in every
// encoding.
func TestServer_Story(t *testing.T) {
	for name, enc := range map[string]Encoding{"auto": EncodingAuto, "json": EncodingJSON, "protobuf": EncodingProtobuf} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apisim.New()
				for i := range 25 {
					must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
				}
				listed := s.ResourceVersion()
				r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{PageSize: 10})
				a := must(s.Create(podsGVR, pod("a"))).(*corev1.Pod)
				a.Labels = map[string]string{"x": "y"}
				a = must(s.Update(podsGVR, a)).(*corev1.Pod)
				gone := must(s.Delete(podsGVR, "default", "p00")).(*corev1.Pod)
				synctest.Wait()
				log := r.sink.log()
				// At version 0 the server has no pages.
				same(t, "sink", log[:1], "replace 25 items at "+listed)
				if len(log) != 4 || log[2] != "MODIFIED default/a at "+a.ResourceVersion || !strings.HasPrefix(log[3], "DELETED default/p00 at ") {
					t.Errorf("sink: %q, deleted %s", log, gone.ResourceVersion)
				}
				must(s.Create(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}))
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				st := r.Status()
				if st.ResourceVersion != s.ResourceVersion() {
					t.Errorf("bookmarks left progress at %s, the server is at %s", st.ResourceVersion, s.ResourceVersion())
				}
				if st.Lists != 1 || st.Watches != 5 || st.LastError != nil || time.Since(st.LastHeard) > 10*time.Minute {
					t.Errorf("after half an hour: %+v", st)
				}
				r.converged(podsGVR)
				if it := r.sink.items[mustKey("default/a")]; it.Object.Labels["x"] != "y" || it.UID != a.UID || it.Object.Kind != "" {
					t.Errorf("a is %+v", it)
				}
				r.end()
			})
		})
	}
}

// TestServer_Pages: an uncached resource, and every relist, comes in pages.
func TestServer_Pages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apisim.New()
		for i := range 25 {
			must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
		}
		r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{PageSize: 10})
		s.SetFault(only("watch", apisim.Hang()))
		s.CloseWatches()
		must(s.Create(podsGVR, pod("new")))
		s.Compact()
		before := s.Stats().Count("list", "pods")
		s.SetFault(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := s.Stats().Count("list", "pods") - before; n != 3 {
			t.Errorf("%d pages", n)
		}
		st := r.Status()
		if st.Lists != 2 || st.Relists[RelistExpired] != 1 {
			t.Errorf("status %+v", st)
		}
		r.converged(podsGVR)
		r.end()
	})
}

// only is a fault for one verb.
func only(verb string, f apisim.Fault) func(*http.Request) apisim.Fault {
	return func(r *http.Request) apisim.Fault {
		if (verb == "watch") == (r.URL.Query().Get("watch") != "") {
			return f
		}
		return nil
	}
}

// times is a fault for the first n requests of a verb.
func times(n int64, verb string, f apisim.Fault) func(*http.Request) apisim.Fault {
	var left atomic.Int64
	left.Store(n)
	choose := only(verb, f)
	return func(r *http.Request) apisim.Fault {
		if choose(r) != nil && left.Add(-1) >= 0 {
			return f
		}
		return nil
	}
}

// TestServer_PageExpires: the history goes away between two pages.
func TestServer_PageExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apisim.New()
		for i := range 25 {
			must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
		}
		r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{PageSize: 10})
		must(s.Create(podsGVR, pod("a")))
		s.SetFault(func(req *http.Request) apisim.Fault {
			if req.URL.Query().Get("continue") != "" {
				s.SetFault(nil)
				must(s.Create(podsGVR, pod("b")))
				s.Compact()
			}
			return nil
		})
		s.Compact()
		s.CloseWatches()
		must(s.Create(podsGVR, pod("c")))
		s.Compact()
		time.Sleep(time.Minute)
		synctest.Wait()
		r.converged(podsGVR)
		r.end()
	})
}

// TestServer_Faults: whatever the server does for a while, afterwards the sink
// has what the server has, by a relist only where nothing else helps.
func TestServer_Faults(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason, retryAfter time.Duration) apisim.Fault {
		return apisim.Refuse(metav1.Status{Code: code, Reason: reason, Message: "not now"}, retryAfter)
	}
	expired := `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`
	for _, c := range []struct {
		why     string
		verb    string
		fault   apisim.Fault
		relists int
	}{
		{"F4: a list cut inside", "list", apisim.CutAfter(700), 0},
		{"F4: a watch cut inside", "watch", apisim.CutAfter(100), 0},
		{"F2: no answer to a list", "list", apisim.Hang(), 0},
		{"F2: no answer to a watch", "watch", apisim.Hang(), 0},
		{"F8: HTML for a list", "list", apisim.Respond(200, "text/html", "<html>hello</html>"), 0},
		{"F8: HTML for a watch", "watch", apisim.Respond(200, "text/html", "<html>hello</html>"), 1},
		{"F9: 401 to a list", "list", status(401, metav1.StatusReasonUnauthorized, 0), 0},
		{"F9: 403 to a watch", "watch", status(403, metav1.StatusReasonForbidden, 0), 0},
		{"F10: 404 to a watch", "watch", apisim.Respond(404, "text/plain", "404 page not found"), 0},
		{"F12: 429 with Retry-After to a list", "list", status(429, metav1.StatusReasonTooManyRequests, time.Second), 0},
		{"F13: 429 in plain text to a watch", "watch", apisim.Respond(429, "text/plain", "too many"), 0},
		{"F16: 503 to a watch", "watch", status(503, metav1.StatusReasonServiceUnavailable, time.Second), 0},
		{"F17: a panic's 500 to a list", "list", apisim.Respond(500, "text/plain", "panic"), 0},
		{"F18: 504 without a kind", "watch", apisim.Respond(504, "", `{"status":"Failure","reason":"Timeout","code":504}`), 0},
		{"F20: 410 to a list", "list", status(410, metav1.StatusReasonExpired, 0), 0},
		{"F33: a watch that ends at once", "watch", apisim.Respond(200, "application/json", ""), 0},
		{"F36: 410 in a watch", "watch", apisim.Respond(200, "application/json", expired), 1},
		{"F37: 410 to a watch", "watch", status(410, metav1.StatusReasonExpired, 0), 1},
		{"F40: 500 in a watch", "watch", apisim.Respond(200, "application/json", `{"type":"ERROR","object":{"kind":"Status","code":500}}`), 0},
		{"F41: 429 in a watch", "watch", apisim.Respond(200, "application/json", `{"type":"ERROR","object":{"kind":"Status","code":429}}`), 0},
		{"F46: garbage in a watch", "watch", apisim.Respond(200, "application/json", `{"type":"ADDED","object":{"metadata":{"name":}`), 1},
		{"F46: an unknown event type", "watch", apisim.Respond(200, "application/json", `{"type":"SYNC","object":{"metadata":{"name":"a"}}}`), 1},
		{"a broken connection before the answer", "list", func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, enc := range []Encoding{EncodingJSON, EncodingAuto} {
				synctest.Test(t, func(t *testing.T) {
					s := apisim.New()
					for i := range 5 {
						must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
					}
					s.SetFault(times(3, c.verb, c.fault))
					r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{})
					for i := range 20 { // the world goes on meanwhile
						must(s.Create(podsGVR, pod(fmt.Sprintf("q%02d", i))))
						if i%3 == 0 {
							must(s.Delete(podsGVR, "default", fmt.Sprintf("q%02d", i)))
						}
						time.Sleep(2 * time.Minute)
					}
					synctest.Wait()
					st := r.Status()
					relists := 0
					for _, n := range st.Relists {
						relists += n
					}
					if c.relists*3 != relists {
						t.Errorf("relists: %v, want %d", st.Relists, 3*c.relists)
					}
					if st.LastError != nil || st.Attempts != 0 || st.Phase != Watching || st.Dropped != 0 {
						t.Errorf("status %+v", st)
					}
					r.converged(podsGVR)
					r.end()
				})
			}
		})
	}
}

// TestServer_StopsAtOnce: with a real source, in every phase.
func TestServer_StopsAtOnce(t *testing.T) {
	for why, fault := range map[string]func(*http.Request) apisim.Fault{
		"listing": only("list", apisim.Hang()),
		"opening": only("watch", apisim.Hang()),
		"reading": nil,
		"inside": only("list", func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			io.WriteString(w, `{"kind":`)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}),
		"no event": only("watch", func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.WriteHeader(200)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}),
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apisim.New()
				s.SetFault(fault)
				start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{}).end()
			})
		})
	}
}

// TestServer_Refused: what is wrong is said, and that it is nothing but that.
func TestServer_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apisim.New()
		r := start(t, s, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}, SourceOptions[*unstructured.Unstructured]{}, Options{})
		err := r.Status().LastError
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "gadgets in example.com/v1") || !strings.Contains(err.Error(), "CRD") {
			t.Errorf("LastError: %v", err)
		}
		r.end()
	})
}

// TestServer_CustomResource: JSON alone, and three ways to hold it.
func TestServer_CustomResource(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "demo.informer.example", Version: "v1", Resource: "widgets"}
	make := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "demo.informer.example/v1", "kind": "Widget",
			"metadata": map[string]any{"namespace": "default", "name": name},
			"spec":     map[string]any{"size": int64(3), "ratio": 1.5},
		}}
	}
	server := func() *apisim.Server {
		s := apisim.New(apisim.WithResource(apisim.CustomResource(gvr, "Widget", true)))
		must(s.Create(gvr, make("a")))
		return s
	}
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*unstructured.Unstructured]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		for _, it := range r.sink.items {
			size, _, _ := unstructured.NestedInt64(it.Object.Object, "spec", "size")
			if size != 3 || it.Object.GetKind() != "Widget" {
				t.Errorf("got %v", it.Object)
			}
		}
		r.converged(gvr)
		r.end()
	})
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*widget]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		for _, it := range r.sink.items {
			if it.Object.Spec.Size != 3 || it.Object.Spec.Ratio != 1.5 {
				t.Errorf("got %+v", it.Object)
			}
		}
		r.converged(gvr)
		r.end()
	})
	synctest.Test(t, func(t *testing.T) {
		s := server()
		r := start(t, s, gvr, SourceOptions[*metav1.PartialObjectMetadata]{}, Options{})
		must(s.Create(gvr, make("b")))
		synctest.Wait()
		r.converged(gvr)
		r.end()
	})
}

// TestF11_NoProtobuf: a server that refuses protobuf is asked for it once.
func TestF11_NoProtobuf(t *testing.T) {
	for _, code := range []int{http.StatusNotAcceptable, http.StatusUnsupportedMediaType} {
		synctest.Test(t, func(t *testing.T) {
			s := apisim.New()
			must(s.Create(podsGVR, pod("a")))
			var refused atomic.Int64
			s.SetFault(func(r *http.Request) apisim.Fault {
				if strings.Contains(r.Header.Get("Accept"), typeProtobuf) {
					refused.Add(1)
					return apisim.Respond(code, "text/plain", "only JSON")
				}
				return nil
			})
			r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{})
			must(s.Create(podsGVR, pod("b")))
			time.Sleep(time.Hour)
			synctest.Wait()
			if refused.Load() != 1 || r.Status().LastError != nil || r.Status().Lists != 1 {
				t.Errorf("refused %d times, %+v", refused.Load(), r.Status())
			}
			r.converged(podsGVR)
			r.end()
		})
	}
}

// TestD9_TransformOnce: exactly once for each object received, and what
// identifies the object stays beside it.
func TestD9_TransformOnce(t *testing.T) {
	for _, enc := range []Encoding{EncodingJSON, EncodingProtobuf} {
		synctest.Test(t, func(t *testing.T) {
			s := apisim.New()
			must(s.Create(podsGVR, pod("a")))
			must(s.Create(podsGVR, pod("b")))
			var calls atomic.Int64
			strip := func(p *corev1.Pod) (*corev1.Pod, error) {
				calls.Add(1)
				if p.Name == "bad" {
					return nil, errors.New("no")
				}
				return &corev1.Pod{}, nil // not even a name
			}
			r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc, Transform: strip}, Options{})
			must(s.Create(podsGVR, pod("c")))
			must(s.Create(podsGVR, pod("bad")))
			must(s.Delete(podsGVR, "default", "a"))
			time.Sleep(10 * time.Minute) // bookmarks have no object
			synctest.Wait()
			if calls.Load() != 5 {
				t.Errorf("%d calls for 5 objects", calls.Load())
			}
			keys := r.sink.keys()
			if len(keys) != 2 || !strings.HasPrefix(keys[0], "default/b@") || strings.HasSuffix(keys[0], "@") || r.Status().Quarantined != 1 {
				t.Errorf("sink has %q, status %+v", keys, r.Status())
			}
			must(s.Delete(podsGVR, "default", "bad"))
			synctest.Wait()
			r.end()
		})
	}
}

// TestI14_Chaos: under random writes and random faults, and after them, the
// sink is the server's state at the sink's version.
func TestI14_Chaos(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func chaos(t *testing.T, rng *rand.Rand) {
	s := apisim.New(apisim.WithHistory(40))
	history := map[string][]string{} // version: the server's state
	record := func() {
		objects, rv := must2(s.List(podsGVR, ""))
		var keys []string
		for _, o := range objects {
			m := o.(metav1.Object)
			keys = append(keys, m.GetNamespace()+"/"+m.GetName()+"@"+m.GetResourceVersion())
		}
		slices.Sort(keys)
		history[rv] = keys
	}
	record()
	faults := []apisim.Fault{
		nil, nil, nil,
		apisim.CutAfter(int64(rng.IntN(3000))),
		apisim.Refuse(metav1.Status{Code: 429}, time.Second),
		apisim.Refuse(metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired}, 0),
		apisim.Respond(500, "text/plain", "panic"),
		apisim.Respond(200, "application/json", `{"type":`),
		apisim.Hang(),
	}
	enc := []Encoding{EncodingJSON, EncodingProtobuf}[rng.IntN(2)]
	choice := rng.IntN(1 << 30)
	var n atomic.Int64
	s.SetFault(func(*http.Request) apisim.Fault {
		return faults[(int(n.Add(1))*7919+choice)%len(faults)]
	})
	r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{PageSize: 7})
	check := func() {
		t.Helper()
		r.sink.mu.Lock()
		rv := r.sink.rv
		r.sink.mu.Unlock()
		if want, ok := history[rv]; ok && rv != "" && !slices.Equal(want, r.sink.keys()) {
			t.Fatalf("at version %s the sink has\n%q\nthe server had\n%q", rv, r.sink.keys(), want)
		}
	}
	names := make([]string, 15)
	for i := range names {
		names[i] = fmt.Sprintf("p%02d", i)
	}
	for range 300 {
		name := names[rng.IntN(len(names))]
		switch rng.IntN(3) {
		case 0:
			_, _ = s.Delete(podsGVR, "default", name)
		default:
			p := pod(name)
			p.Annotations = map[string]string{"n": fmt.Sprint(rng.IntN(1000))}
			must(s.Apply(podsGVR, p))
		}
		record()
		if rng.IntN(20) == 0 {
			s.CloseWatches()
		}
		if rng.IntN(50) == 0 {
			s.Compact()
		}
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		synctest.Wait()
		check()
	}
	s.SetFault(nil)
	time.Sleep(20 * time.Minute)
	synctest.Wait()
	check()
	r.converged(podsGVR)
	if st := r.Status(); st.LastError != nil || st.Phase != Watching {
		t.Errorf("after the faults: %+v", st)
	}
	r.end()
}
