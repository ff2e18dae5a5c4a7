package informer_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
)

// logLines is a log to be read while it is written.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// about returns the lines that hold a text.
func (l *logLines) about(text string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (l *logLines) option() informer.FactoryOption {
	return informer.WithLogger(slog.New(slog.NewTextHandler(l, nil)))
}

// loggedPods is podInformer with a log that is kept.
func loggedPods(t *testing.T, server *apisim.Server) (*informer.Factory, *informer.Informer[pod], *logLines) {
	t.Helper()
	lines := new(logLines)
	f := informer.NewFactory(server.Config(), lines.option())
	pods, err := informer.For[pod](f)
	if err != nil {
		t.Fatal(err)
	}
	return f, pods, lines
}

// An isolated panic costs one call. The handler goes on, and syncs.
func TestIsolatedPanic(t *testing.T) {
	for _, policy := range []informer.Delivery{informer.Elastic, informer.Latest, informer.Block} {
		t.Run(policy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apisim.New()
				for n := range 5 {
					create(t, server, "ns", fmt.Sprint("pod-", n))
				}
				f, pods, lines := loggedPods(t, server)
				var told []string
				r := addHandler(t, pods, informer.HandlerFuncs[pod]{AddFunc: func(p pod) {
					told = append(told, p.Name)
					if p.Name == "pod-2" {
						panic("no such volume")
					}
				}}, informer.WithPanicPolicy(informer.IsolatePanics), informer.WithDelivery(policy), informer.WithName("mounter"))
				start(t, f)
				if err := r.WaitForSync(t.Context()); err != nil {
					t.Fatal(err)
				}
				create(t, server, "ns", "pod-5")
				synctest.Wait()
				if len(told) != 6 {
					t.Errorf("told %v, want all six", told)
				}
				s := r.Status()
				if s.Panics != 1 || s.Delivered != 6 || s.LastPanic == nil {
					t.Fatalf("status %+v", s)
				}
				if got := s.LastPanic.Error(); got != "handler mounter panicked on ns/pod-2: no such volume" {
					t.Errorf("the panic reads %q", got)
				}
				if !strings.Contains(s.LastPanic.Stack, "TestIsolatedPanic") {
					t.Errorf("the stack doesn't lead to the handler:\n%s", s.LastPanic.Stack)
				}
				if got := lines.about("a handler panicked"); len(got) != 1 || !strings.Contains(got[0], "mounter") {
					t.Errorf("logged %q", got)
				}
			})
		})
	}
}

// A call that takes too long is logged once, while it runs.
func TestSlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		f, pods, lines := loggedPods(t, server)
		start(t, f)
		takes := 10 * time.Second
		r := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { time.Sleep(takes) }),
			informer.WithName("tortoise"), informer.WithSlowCall(3*time.Second))
		quiet := addHandler(t, pods, informer.HandlerFunc[pod](func(event) { time.Sleep(takes) }), informer.WithSlowCall(0))
		synctest.Wait()
		wait := func(d time.Duration, warnings int, why string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := lines.about("takes long"); len(got) != warnings || r.Status().SlowCalls != uint64(warnings) {
				t.Errorf("%s: %d warnings, want %d; %+v\n%q", why, len(got), warnings, r.Status(), got)
			}
		}
		create(t, server, "ns", "a")
		create(t, server, "ns", "b")
		synctest.Wait()
		wait(3*time.Second-1, 0, "not yet")
		wait(1, 1, "three seconds in the call about a")
		if s := r.Status(); s.Running != 3*time.Second || s.RunningKey.Name != "a" || s.Lag != 2 || s.Oldest != 3*time.Second {
			t.Errorf("status %+v", s)
		}
		wait(7*time.Second, 1, "once for each call")
		wait(3*time.Second, 2, "the next call is another")
		wait(time.Hour, 2, "nothing runs")
		if s := r.Status(); s.Running != 0 || s.LastCall != takes || s.Lag != 0 || s.Oldest != 0 || s.Delivered != 2 {
			t.Errorf("status %+v", s)
		}
		takes = time.Second
		create(t, server, "ns", "c")
		wait(time.Hour, 2, "quick enough")
		takes = time.Minute
		create(t, server, "ns", "d")
		wait(time.Hour, 3, "slow again after a long time of rest")
		got := lines.about("takes long")
		if len(got) != 3 || !strings.Contains(got[2], "handler=tortoise key=ns/d running=3s") {
			t.Errorf("the warning: %q", got)
		}
		if quiet.Status().SlowCalls != 0 {
			t.Error("turned off, and warned")
		}
	})
}

func added(pod)                 {}
func (c *recorder) onPod(event) {}

// A handler without a name is called after its function or its type.
func TestHandlerNames(t *testing.T) {
	_, pods := podInformer(t, apisim.New())
	for _, tt := range []struct {
		handler informer.EventHandler[pod]
		want    string
	}{
		{informer.HandlerFuncs[pod]{AddFunc: added}, "informer_test.added"},
		{informer.HandlerFuncs[pod]{DeleteFunc: func(pod, bool) {}}, "informer_test.TestHandlerNames.func1"},
		{informer.HandlerFunc[pod]((&recorder{}).onPod), "informer_test.(*recorder).onPod"},
		{&recorder{}, "*informer_test.recorder"},
		{informer.HandlerFuncs[pod]{}, "informer.HandlerFuncs[*k8s.io/api/core/v1.Pod]"},
	} {
		if got := addHandler(t, pods, tt.handler).Status().Name; got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := addHandler(t, pods, &recorder{}, informer.WithName("own")).Status().Name; got != "own" {
		t.Errorf("%q, want the given name", got)
	}
}
