package naive

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

var configMaps = apisim.ConfigMaps().GVR

// server is a simulated API server and a source of its configmaps. Writes fail
// the test on any error.
type server struct {
	*apisim.Server
	t      *testing.T
	source reflector.Source[configMap]
}

func newServer(t *testing.T) *server {
	s := &server{Server: apisim.New(), t: t}
	source, err := reflector.NewHTTPSource(s.Config(), configMaps, reflector.SourceOptions[configMap]{})
	if err != nil {
		t.Fatal(err)
	}
	s.source = source
	return s
}

// write creates or changes namespace default's configmap of that name.
func (s *server) write(name, value string) {
	s.t.Helper()
	_, err := s.Apply(configMaps, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       map[string]string{"value": value},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) delete(name string) {
	s.t.Helper()
	if _, err := s.Delete(configMaps, "default", name); err != nil {
		s.t.Fatal(err)
	}
}

// exists returns what the server holds, in the form of names.
func (s *server) exists() []string {
	s.t.Helper()
	objs, _, err := s.List(configMaps, "")
	if err != nil {
		s.t.Fatal(err)
	}
	var held []configMap
	for _, o := range objs {
		held = append(held, o.(configMap))
	}
	return names(held)
}

// told is the short form of an event: its type, name, and value before and
// after ("-" for no object).
func told(e informer.Event[configMap]) string {
	value := func(c configMap) string {
		if c == nil {
			return "-"
		}
		return c.Data["value"]
	}
	return e.Type.String() + " " + e.Key.Name + " " + value(e.Old) + ">" + value(e.New)
}

func (r *recorder) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		out = append(out, told(e))
	}
	r.events = nil
	return out
}

func expect(t *testing.T, what string, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

func TestPollerOnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			s.write(name, "1")
		}
		handler := &recorder{}
		p := NewPoller(s.source, handler, Options{Interval: time.Minute, PageSize: 2})
		run := start(t, p.Run)
		next := func() { time.Sleep(time.Minute); synctest.Wait() }

		<-p.Synced()
		expect(t, "the first poll", []string{"ADDED a ->1", "ADDED b ->1", "ADDED c ->1", "ADDED d ->1", "ADDED e ->1"}, handler.told())
		if got := s.Stats().Count("list", "configmaps"); got != 3 || p.Stats().Requests != 3 {
			t.Errorf("%d list requests, %d counted; want 3 pages of 2", got, p.Stats().Requests)
		}

		s.write("a", "2")
		s.delete("b")
		s.delete("c")
		s.write("c", "3") // another object
		s.write("f", "4")
		next()
		expect(t, "the second poll", []string{"UPDATED a 1>2", "DELETED b 1>-", "DELETED c 1>-", "ADDED c ->3", "ADDED f ->4"}, handler.told())

		next()
		expect(t, "a poll without a change", nil, handler.told())

		// What it can't see, though it is correct: the states between polls.
		s.write("a", "3")
		s.write("a", "4")
		s.write("g", "1")
		s.delete("g")
		next()
		expect(t, "changes between two polls", []string{"UPDATED a 2>4"}, handler.told())

		expect(t, "the state", s.exists(), names(p.List()))
		run.stop()
	})
}

func TestPollerOnFailingServer(t *testing.T) {
	refuse := func(code int32, reason metav1.StatusReason) apisim.Fault {
		return apisim.Refuse(metav1.Status{Code: code, Reason: reason, Message: "no"}, 0)
	}
	for _, tc := range []struct {
		name, why string
		fault     apisim.Fault
		second    bool // only the second page meets it
	}{
		{"500", "the server's own failure", refuse(500, metav1.StatusReasonInternalError), false},
		{"403", "the right to list was withdrawn: nothing is known to be deleted", refuse(403, metav1.StatusReasonForbidden), false},
		{"410", "the continue token has expired: half a list", refuse(410, metav1.StatusReasonExpired), true},
		{"cut body", "items, but no end", apisim.CutAfter(100), false},
		{"cut second page", "one page was whole", apisim.CutAfter(10), true},
		{"hang", "no answer", apisim.Hang(), false},
		{"another body", "a proxy's login page", apisim.Respond(200, "text/html", "<html>log in</html>"), false},
		{"an empty body", "nothing is not an empty list", apisim.Respond(200, "application/json", ""), false},
		{"an empty object", "no list", apisim.Respond(200, "application/json", "{}"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				for _, name := range []string{"a", "b", "c", "d"} { // two pages, with and without a
					s.write(name, "1")
				}
				handler := &recorder{}
				p := NewPoller(s.source, handler, Options{Interval: time.Minute, PageSize: 2, PageTimeout: time.Second})
				run := start(t, p.Run)
				<-p.Synced()
				handler.told()
				held := names(p.List())

				s.SetFault(func(r *http.Request) apisim.Fault {
					if tc.second && !strings.Contains(r.URL.RawQuery, "continue=") {
						return nil
					}
					return tc.fault
				})
				s.delete("a")
				time.Sleep(time.Minute + 2*time.Second)
				synctest.Wait()
				expect(t, tc.why+": events", nil, handler.told())
				expect(t, tc.why+": state", held, names(p.List()))
				var pe *PollError
				if st := p.Stats(); st.Failures != 1 || !errors.As(st.LastError, &pe) {
					t.Errorf("%s: %d failures, last error %v; want 1, a *PollError", tc.why, st.Failures, st.LastError)
				}

				s.SetFault(nil)
				time.Sleep(time.Minute)
				synctest.Wait()
				expect(t, "once it is mended", []string{"DELETED a 1>-"}, handler.told())
				if st := p.Stats(); st.LastError != nil {
					t.Errorf("once it is mended: %v", st.LastError)
				}
				run.stop()
			})
		})
	}
}

// An object that a transform rejects exists all the same (N10).
func TestPollerQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		source, err := reflector.NewHTTPSource(s.Config(), configMaps, reflector.SourceOptions[configMap]{
			Transform: func(c configMap) (configMap, error) {
				if c.Data["value"] == "bad" {
					return nil, errors.New("can't use it")
				}
				return c, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.write("a", "1")
		handler := &recorder{}
		p := NewPoller(source, handler, Options{Interval: time.Minute})
		run := start(t, p.Run)
		<-p.Synced()
		handler.told()

		s.write("a", "bad")
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "while it is bad", nil, handler.told())
		if obj, exists, _ := p.GetByKey("default/a"); !exists || obj.Data["value"] != "1" {
			t.Errorf("while it is bad: %v, %v; want the last usable state", obj, exists)
		}
		if q := p.Stats().Quarantined; len(q) != 1 || q[0].Key != (object.Key{Namespace: "default", Name: "a"}) || q[0].Err == nil {
			t.Errorf("quarantined: %+v, want default/a", q)
		}

		s.write("a", "2")
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "once it is mended", []string{"UPDATED a 1>2"}, handler.told())
		if q := p.Stats().Quarantined; len(q) != 0 {
			t.Errorf("once it is mended: quarantined %+v", q)
		}
		run.stop()
	})
}
