package contract_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"informer.example/compare/contract"
	"informer.example/compare/contract/subjects"
)

var updating = flag.Bool("update", false, "write the outcomes into docs/conformance.md")

const document = "../../docs/conformance.md"

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // client-go's, which says much under faults
	goleak.VerifyTestMain(m)
}

const head = `# Conformance

What each informer keeps of one contract. Written by ` + "`go test ./compare/contract -update`" + `, and
checked by the same test: each clause runs on the simulator in virtual time, a clause that differs must
really be broken, and one that holds must hold. client-go is v0.37.2.

`

// R1: the outcomes are as each subject says of itself, and as the document says.
func TestConformance(t *testing.T) {
	all := []contract.Implementation{subjects.Naive(), subjects.InOrder(), subjects.DeltaFIFO(), subjects.ClientGo(), subjects.ClientGoLists()}
	clauses := contract.Clauses()
	verdicts := make([][]string, len(clauses))
	whole := true
	header, rule, reasons := "| clause | promise |", "|---|---|", ""
	for _, impl := range all {
		header += " " + impl.Name + " |"
		rule += "---|"
		why := ""
		var outcomes []contract.Outcome
		t.Run(impl.Name, func(t *testing.T) { outcomes = contract.Run(t, impl) })
		if len(outcomes) != len(clauses) {
			whole = false // not all of them ran
			continue
		}
		for i, o := range outcomes {
			verdicts[i] = append(verdicts[i], string(o.Verdict))
			if o.Verdict == contract.Differs {
				why += fmt.Sprintf("| %s | %s |\n", o.Clause.ID, o.Reason)
			}
		}
		if why != "" {
			reasons += "\n## Where " + impl.Name + " differs\n\n| clause | why |\n|---|---|\n" + why
		}
	}
	if !whole {
		return
	}
	var b strings.Builder
	b.WriteString(head + header + "\n" + rule + "\n")
	for i, c := range clauses {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.ID, c.Sentence, strings.Join(verdicts[i], " | "))
	}
	b.WriteString(reasons)
	if *updating && !t.Failed() {
		if err := os.WriteFile(document, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(document); err != nil || string(text) != b.String() {
		t.Errorf("%s is not current: run go test ./compare/contract -update (%v)", document, err)
	}
}

// wrong is a Subject of ours with one mistake.
type wrong struct {
	contract.Subject
	handler func(contract.Handler) contract.Handler
	get     func(contract.Subject, string) (*corev1.Pod, bool)
	synced  func(contract.Subject) bool
	reg     func(contract.Registration) contract.Registration
	run     func(contract.Subject, context.Context) error
}

func (w wrong) AddHandler(h contract.Handler) (contract.Registration, error) {
	if w.handler != nil {
		h = w.handler(h)
	}
	r, err := w.Subject.AddHandler(h)
	if err == nil && w.reg != nil {
		r = w.reg(r)
	}
	return r, err
}

func (w wrong) Get(key string) (*corev1.Pod, bool) {
	if w.get != nil {
		return w.get(w.Subject, key)
	}
	return w.Subject.Get(key)
}

func (w wrong) HasSynced() bool {
	if w.synced != nil {
		return w.synced(w.Subject)
	}
	return w.Subject.HasSynced()
}

func (w wrong) Run(ctx context.Context) error {
	if w.run != nil {
		return w.run(w.Subject, ctx)
	}
	return w.Subject.Run(ctx)
}

// filter changes what a handler is told.
type filter struct {
	contract.Handler
	add    func(next contract.Handler, pod *corev1.Pod, initial bool)
	update func(next contract.Handler, old, pod *corev1.Pod)
	del    func(next contract.Handler, pod *corev1.Pod, final bool)
}

func (f filter) OnAdd(pod *corev1.Pod, initial bool) {
	if f.add != nil {
		f.add(f.Handler, pod, initial)
		return
	}
	f.Handler.OnAdd(pod, initial)
}

func (f filter) OnUpdate(old, pod *corev1.Pod) {
	if f.update != nil {
		f.update(f.Handler, old, pod)
		return
	}
	f.Handler.OnUpdate(old, pod)
}

func (f filter) OnDelete(pod *corev1.Pod, final bool) {
	if f.del != nil {
		f.del(f.Handler, pod, final)
		return
	}
	f.Handler.OnDelete(pod, final)
}

type syncedAtOnce struct{ contract.Registration }

func (syncedAtOnce) HasSynced() bool { return true }

// telling is a wrong handler's way.
func telling(f filter) wrong {
	return wrong{handler: func(h contract.Handler) contract.Handler { f.Handler = h; return f }}
}

// R2: the suite kills what is wrong, each by the clause that is about it, which
// says what was done and seen.
func TestWrongSubjectsAreKilled(t *testing.T) {
	for _, tt := range []struct {
		why, clause string
		wrong       wrong
		config      func(*contract.Config) // changes what it is made of, instead
	}{
		{why: "drops deletions", clause: "delete-final", wrong: telling(filter{del: func(contract.Handler, *corev1.Pod, bool) {}})},
		{why: "drops deletions that a list found", clause: "delete-missed", wrong: telling(filter{del: func(h contract.Handler, pod *corev1.Pod, final bool) {
			if final {
				h.OnDelete(pod, final)
			}
		}})},
		{why: "calls every final state known", clause: "delete-missed", wrong: telling(filter{del: func(h contract.Handler, pod *corev1.Pod, _ bool) { h.OnDelete(pod, true) }})},
		{why: "adds twice", clause: "initial-once", wrong: telling(filter{add: func(h contract.Handler, pod *corev1.Pod, initial bool) {
			h.OnAdd(pod, initial)
			h.OnAdd(pod, initial)
		}})},
		{why: "marks everything initial", clause: "initial-mark", wrong: telling(filter{add: func(h contract.Handler, pod *corev1.Pod, _ bool) { h.OnAdd(pod, true) }})},
		{why: "drops updates", clause: "events-all", wrong: telling(filter{update: func(contract.Handler, *corev1.Pod, *corev1.Pod) {}})},
		{why: "gives the new state for the old", clause: "events-old", wrong: telling(filter{update: func(h contract.Handler, _, pod *corev1.Pod) { h.OnUpdate(pod, pod) }})},
		{why: "syncs before the list", clause: "sync-store", wrong: wrong{synced: func(contract.Subject) bool { return true }}},
		{why: "syncs a handler before its calls", clause: "sync-handler", wrong: wrong{reg: func(r contract.Registration) contract.Registration { return syncedAtOnce{r} }}},
		{why: "finds nothing by key", clause: "get-keys", wrong: wrong{get: func(contract.Subject, string) (*corev1.Pod, bool) { return nil, false }}},
		{why: "stops late", clause: "stop-watching", wrong: wrong{run: func(s contract.Subject, ctx context.Context) error {
			defer time.Sleep(time.Second)
			return s.Run(ctx)
		}}},
		{why: "leaves a goroutine", clause: "stop-watching", wrong: wrong{run: func(s contract.Subject, ctx context.Context) error {
			go time.Sleep(30 * time.Minute)
			return s.Run(ctx)
		}}},
		{why: "has no transform", clause: "transform-first", config: func(c *contract.Config) { c.Transform = nil }},
		{why: "transforms twice", clause: "transform-once", config: func(c *contract.Config) {
			once := c.Transform
			c.Transform = func(pod *corev1.Pod) (*corev1.Pod, error) {
				pod, err := once(pod)
				if err != nil {
					return nil, err
				}
				return once(pod)
			}
		}},
		{why: "takes a failed transform's object", clause: "transform-error-event", config: func(c *contract.Config) {
			failing := c.Transform
			c.Transform = func(pod *corev1.Pod) (*corev1.Pod, error) {
				_, _ = failing(pod)
				return pod, nil
			}
		}},
		{why: "indexes the first state alone", clause: "index-follows", config: func(c *contract.Config) {
			app, first := c.Indexers["app"], make(map[string][]string)
			c.Indexers = map[string]contract.IndexFunc{"app": func(pod *corev1.Pod) ([]string, error) {
				if values, ok := first[pod.Name]; ok {
					return values, nil
				}
				values, err := app(pod)
				first[pod.Name] = values
				return values, err
			}}
		}},
		{why: "calls index functions twice", clause: "index-once", config: func(c *contract.Config) {
			app := c.Indexers["app"]
			c.Indexers = map[string]contract.IndexFunc{"app": func(pod *corev1.Pod) ([]string, error) {
				_, _ = app(pod)
				return app(pod)
			}}
		}},
		{why: "never resyncs", clause: "resync", config: func(c *contract.Config) { c.Resync = 0 }},
		{why: "asks for every namespace", clause: "namespace-scope", config: func(c *contract.Config) { c.Namespace = "" }},
		{why: "asks for every label", clause: "selector-leave", config: func(c *contract.Config) { c.LabelSelector = "" }},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ours := subjects.InOrder()
			o, err := contract.Try(t, tt.clause, contract.Implementation{Name: tt.why, New: func(c contract.Config) (contract.Subject, error) {
				if tt.config != nil {
					tt.config(&c)
					return ours.New(c)
				}
				s, err := ours.New(c)
				tt.wrong.Subject = s
				return tt.wrong, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			if o.Verdict != contract.Fails || !strings.HasPrefix(o.Broken.Error(), tt.clause+": ") || len(o.Broken.Done) == 0 || o.Broken.Seen == "" {
				t.Errorf("%s: %s: %v", tt.clause, o.Verdict, o.Broken)
			}
		})
	}
}

// R3: a subject that asks again without a pause would hold virtual time still.
func TestALoopWithoutAPauseEnds(t *testing.T) {
	asked := 0
	ours := subjects.InOrder()
	o, err := contract.Try(t, "pace-refused", contract.Implementation{Name: "never rests", New: func(c contract.Config) (contract.Subject, error) {
		s, err := ours.New(c)
		return wrong{Subject: s, run: func(_ contract.Subject, ctx context.Context) error {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server/api/v1/pods", nil)
				if err != nil {
					return err
				}
				if answer, err := c.REST.Transport.RoundTrip(r); err == nil {
					_ = answer.Body.Close()
				}
				asked++
			}
			return nil
		}}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if o.Verdict != contract.Fails || asked < 100 {
		t.Errorf("%d requests: %s: %v", asked, o.Verdict, o.Broken)
	}
}
