package metrics_test

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/informer"
	"informer.example/informer/metrics"
	"informer.example/object"
	"informer.example/reflector"
)

var update = flag.Bool("update", false, "write the list of metrics into docs/observability.md")

// fixed is an informer with a given status.
type fixed struct{ st informer.Status }

func (f fixed) Status() informer.Status { return f.st }
func (fixed) Stored(object.Key) (object.Item[metav1.Object], bool) {
	return object.Item[metav1.Object]{}, false
}
func (fixed) StoredFrom(object.Key) iter.Seq[object.Item[metav1.Object]] {
	return func(func(object.Item[metav1.Object]) bool) {}
}

func collector(statuses ...informer.Status) *metrics.Collector {
	return metrics.NewCollector(func() []informer.Observed {
		var all []informer.Observed
		for _, st := range statuses {
			all = append(all, fixed{st})
		}
		return all
	})
}

func busy() informer.Status {
	st := informer.Status{Name: "pods", Synced: true, Objects: 3, QueueDepth: 1, Stale: 4, Drift: 5, Filtered: 6, IndexErrors: 7}
	st.Phase, st.Lists, st.Watches, st.Dropped, st.Quarantined, st.Reused, st.Attempts = reflector.Watching, 2, 8, 9, 10, 11, 12
	st.FreshAt, st.LastHeard, st.FailingSince = time.Now(), time.Now(), time.Now()
	st.Relists = map[reflector.RelistReason]int{reflector.RelistExpired: 1}
	st.Handlers = []informer.HandlerStatus{
		{Name: "a", Synced: true, Delivered: 5, Lag: 7, Panics: 1},
		{Name: "a", Delivered: 6, Lag: 3},
	}
	st.Namespaces = []informer.NamespaceStatus{{Synced: true}, {Err: errors.New("no")}}
	return st
}

// Every metric is there, its name and help follow Prometheus' rules, and a
// registry accepts them.
func TestEachMetricIsWellFormed(t *testing.T) {
	c := collector(busy())
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, f := range families {
		found[f.GetName()] = true
	}
	for _, m := range metrics.List() {
		if !found[m.Name] {
			t.Errorf("%s was not collected", m.Name)
		}
		delete(found, m.Name)
	}
	if len(found) > 0 {
		t.Errorf("collected, and not in the list: %v", found)
	}
}

func TestValues(t *testing.T) {
	want := `
# HELP informer_handler_calls_total Calls that returned or panicked.
# TYPE informer_handler_calls_total counter
informer_handler_calls_total{handler="a",informer="pods"} 11
# HELP informer_handler_lag_events Events that wait for the handler.
# TYPE informer_handler_lag_events gauge
informer_handler_lag_events{handler="a",informer="pods"} 7
# HELP informer_handler_unsynced Handlers that have not been told the first list.
# TYPE informer_handler_unsynced gauge
informer_handler_unsynced{handler="a",informer="pods"} 1
# HELP informer_namespaces_given_up Those of them that have ended with an error.
# TYPE informer_namespaces_given_up gauge
informer_namespaces_given_up{informer="pods"} 1
informer_namespaces_given_up{informer="pods#2"} 0
# HELP informer_objects Objects in the store.
# TYPE informer_objects gauge
informer_objects{informer="pods"} 3
informer_objects{informer="pods#2"} 0
# HELP informer_relists_total Complete lists after the first, by reason.
# TYPE informer_relists_total counter
informer_relists_total{informer="pods",reason="Expired"} 1
`
	c := collector(busy(), informer.Status{Name: "pods"})
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "informer_handler_calls_total", "informer_handler_lag_events",
		"informer_handler_unsynced", "informer_namespaces_given_up", "informer_objects", "informer_relists_total", "informer_drift"); err != nil {
		t.Error(err)
	}
	// What isn't known isn't shown.
	if n := testutil.CollectAndCount(collector(informer.Status{Name: "new"}), "informer_age_seconds", "informer_last_heard_timestamp_seconds"); n != 0 {
		t.Errorf("%d series of an informer that hasn't heard anything", n)
	}
}

// However many handlers there are, the number of series is bounded, and none
// is left out of the counts.
func TestLabelsAreBounded(t *testing.T) {
	var st informer.Status
	for n := range 3 * metrics.MaxHandlers {
		st.Handlers = append(st.Handlers, informer.HandlerStatus{Name: fmt.Sprint("h", n), Delivered: 1})
	}
	if n := testutil.CollectAndCount(collector(st), "informer_handler_calls_total"); n != metrics.MaxHandlers+1 {
		t.Errorf("%d series; want %d and one for the rest", n, metrics.MaxHandlers)
	}
}

// docs/observability.md lists the metrics as they are.
func TestListIsDocumented(t *testing.T) {
	const file, begin, end = "../../docs/observability.md", "<!-- metrics -->\n", "<!-- /metrics -->"
	var table strings.Builder
	table.WriteString("| metric | type | labels | what |\n|---|---|---|---|\n")
	for _, m := range metrics.List() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(m.Labels, ", "), m.Help)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the list, between %q and %q", file, begin, end)
	}
	if have == table.String() {
		return
	}
	if !*update {
		t.Fatalf("%s doesn't list the metrics as they are; run: go test ./informer/metrics -update", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ExampleNewCollector() {
	factory := informer.NewFactory(nil)
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewCollector(factory.Informers))
	// http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}
