package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/apisim/fault"
	"informer.example/compare/invariant"
	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/reflector"
)

// Setup is how the informer of a run is made.
type Setup struct {
	Queue    informer.QueueKind
	Encoding reflector.Encoding
	// Settle waits until nothing moves but for time: synctest.Wait.
	Settle func()
	// Looks is how often the checker looks while time passes in one step of the
	// script: 100 times if 0.
	Looks int
	// Log is told what happens, line by line; nil: nobody is. It is called by
	// several goroutines.
	Log func(line string)
	// Wrongs makes the informer a wrong one, to see that this is found.
	Wrongs Wrongs[*corev1.Pod]
}

// Wrongs come between an informer and what it works with. What is nil is left
// alone.
type Wrongs[T metav1.Object] struct {
	Source  func(reflector.Source[T]) reflector.Source[T]
	Handler func(informer.EventHandler[T]) informer.EventHandler[T] // each of the script's
	Index   func(indexer.IndexFunc[T]) indexer.IndexFunc[T]
}

// Run plays the scenario. It belongs into a synctest bubble. The error holds
// everything that went wrong.
func Run(ctx context.Context, s *Scenario, setup Setup) error {
	before := goroutines(setup.Settle)
	cluster, err := apisim.NewCluster(max(s.server.servers, 1), s.server.options()...)
	if err != nil {
		return s.errorf(1, "%v", err)
	}
	history := invariant.NewHistory()
	r := &runner{
		scenario: s, setup: setup, cluster: cluster, faults: fault.New(), history: history,
		checker: invariant.New(invariant.Options{History: history, Verify: s.client.verify > 0}),
		known:   map[string]bool{}, began: time.Now(),
	}
	for i := range cluster.Servers() {
		cluster.Server(i).SetFault(r.faults.Choose)
	}
	if err := r.write("create", s.server.objects); err != nil {
		return err
	}
	if err := r.connect(); err != nil {
		return s.errorf(1, "%v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx = ctx
	errs := r.play(s.script)
	if r.running == nil {
		return errors.Join(append(errs, errNotStarted)...)
	}
	errs = append(errs, r.rest())
	errs = append(errs, r.play(s.expect)...)
	began := time.Now()
	cancel()
	if err := <-r.running; err != nil {
		errs = append(errs, fmt.Errorf("run: %w", err))
	}
	if d := time.Since(began); d > 50*time.Millisecond {
		r.checker.Broken("H8", "the informer took %v to stop", d)
	}
	r.checker.Stopped(before, goroutines(setup.Settle))
	return errors.Join(append(errs, r.checker.Err())...)
}

// runner is one run. The goroutine of Run owns it, but for what mu guards.
type runner struct {
	scenario *Scenario
	setup    Setup
	cluster  *apisim.Cluster
	faults   *fault.Script
	history  *invariant.History
	checker  *invariant.Checker
	subject  subject
	ctx      context.Context
	running  chan error // nil before start
	began    time.Time
	waited   time.Duration

	made  int             // objects created so far, for their names
	turn  int             // updates so far
	known map[string]bool // keys that the client's selector has seen

	mu     sync.Mutex
	inUse  int // the server that the client talks to
	counts map[fault.Op]int
	pages  int
	events []count
}

func (r *runner) play(steps []step) (errs []error) {
	for _, st := range steps {
		r.log("line %d", st.line)
		if err := st.run(r); err != nil {
			errs = append(errs, r.scenario.errorf(st.line, "%v", err))
		}
		r.look()
	}
	return errs
}

// look lets everything come to rest, and the checker look.
func (r *runner) look() {
	r.setup.Settle()
	if r.subject != nil {
		r.subject.look(r.checker)
	}
}

func (r *runner) start() error {
	if r.running != nil {
		return nil
	}
	r.running = make(chan error, 1)
	go func() { r.running <- r.subject.run(r.ctx) }()
	return nil
}

func (r *runner) sync() error {
	if err := r.start(); err != nil {
		return err
	}
	for range 1200 {
		r.look()
		if r.subject.synced() {
			return nil
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("not synced after 20 minutes: %+v", r.subject.status().Status)
}

// advance lets time pass, and looks again and again.
func (r *runner) advance(d time.Duration) {
	looks := time.Duration(cmp.Or(r.setup.Looks, 100))
	for slice := max(d/looks, 100*time.Millisecond); d > 0; d -= slice {
		time.Sleep(min(slice, d))
		r.look()
	}
}

// rest ends all faults, lets stalled handlers go on, and waits until the store is
// the server's state and a watch is open.
func (r *runner) rest() error {
	r.faults.Clear()
	for _, s := range r.cluster.Servers() {
		s.SetLag(0)
	}
	r.subject.resumeAll()
	began := time.Now()
	var store, server invariant.State
	for time.Since(began) < maxSettle {
		r.look()
		var err error
		if server, err = r.serverState(); err != nil {
			return err
		}
		store = r.subject.state()
		st := r.subject.status()
		if st.Synced && equal(store, server) && (st.Phase == reflector.Watching || r.scenario.client.polling > 0) {
			break
		}
		// A wait of hours is not looked at every second.
		time.Sleep(max(time.Second, time.Since(began)/20))
	}
	r.waited = time.Since(began)
	if st := r.subject.status(); !st.Synced || st.Phase != reflector.Watching && r.scenario.client.polling == 0 {
		r.checker.Broken("I14", "in the end it is %v, and synced is %t", st.Phase, st.Synced)
	}
	r.checker.Converged(store, server)
	r.subject.rest(r.checker)
	return nil
}

func equal(a, b invariant.State) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// front is the server that the client talks to.
func (r *runner) front() *apisim.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cluster.Server(r.inUse)
}

// use moves the client to another server, and breaks what is open.
func (r *runner) use(n int) error {
	if n >= len(r.cluster.Servers()) {
		return fmt.Errorf("there is no server %d", n)
	}
	old := r.front()
	r.mu.Lock()
	r.inUse = n
	r.mu.Unlock()
	old.CloseWatches()
	return nil
}

func (r *runner) connect() (err error) {
	cfg := r.cluster.Server(0).Config()
	transports := make([]http.RoundTripper, len(r.cluster.Servers()))
	for i, s := range r.cluster.Servers() {
		transports[i] = s.RoundTripper()
	}
	cfg.Transport = r.checker.Transport(roundTripper(func(req *http.Request) (*http.Response, error) {
		op, _ := fault.OpOf(req)
		r.mu.Lock()
		if r.counts == nil {
			r.counts = map[fault.Op]int{}
		}
		if op == fault.List {
			r.pages++
		}
		if op != fault.List || req.URL.Query().Get("continue") == "" {
			r.counts[op]++
		}
		to := transports[r.inUse]
		r.mu.Unlock()
		r.log("%s %s", opName(op), req.URL.RawQuery)
		return to.RoundTrip(req)
	}))
	r.subject, err = r.newSubject(cfg)
	return err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// log tells what happens, with the time since the run began.
func (r *runner) log(format string, args ...any) {
	if r.setup.Log != nil {
		r.setup.Log(fmt.Sprintf("%v ", time.Since(r.began)) + fmt.Sprintf(format, args...))
	}
}

func opName(op fault.Op) string {
	for name, o := range kinds {
		if o == op {
			return name
		}
	}
	return "other"
}

// requests counts requests; first leaves out all pages but the first.
func (r *runner) requests(op fault.Op, first bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op == fault.List && !first {
		return r.pages
	}
	return r.counts[op]
}

// told counts what a handler was told after its first picture.
func (r *runner) told(typ string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if !e.initial && (typ == "" || typ == e.typ.String()) {
			n++
		}
	}
	return n
}
