package reflector

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{PageSize: 10, WatchList: WatchListNever})
		s.SetFault(only("watch", apisim.Hang()))
		s.CloseWatches()
		must(s.Create(podsGVR, pod("new")))
		s.Compact()
		before := s.Stats().Count("list", "pods")
		s.SetFault(nil)
		time.Sleep(5 * time.Minute)
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
		r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{PageSize: 10, WatchList: WatchListNever})
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
			for n, enc := range []Encoding{EncodingJSON, EncodingAuto, EncodingJSON, EncodingAuto} {
				mode, want := WatchListNever, 3*c.relists
				if n >= 2 {
					// What goes wrong with a watch goes wrong with the first state.
					mode, want = WatchListAuto, 0
				}
				synctest.Test(t, func(t *testing.T) {
					s := apisim.New()
					for i := range 5 {
						must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
					}
					s.SetFault(times(3, c.verb, c.fault))
					r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{WatchList: mode})
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
					if relists != want {
						t.Errorf("relists: %v, want %d", st.Relists, want)
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
