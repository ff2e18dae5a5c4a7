package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"informer.example/informer"
	"informer.example/reflector"
)

// MaxHandlers is how many names of handlers an informer has series for.
const MaxHandlers = 64

// others is the handler label of those beyond MaxHandlers.
const others = "(others)"

// Collector is a [prometheus.Collector] that reads the Status of informers. It
// may be used by several goroutines and registries.
type Collector struct {
	informers func() []informer.Observed
	descs     map[string]*prometheus.Desc // by name; never changed
}

// NewCollector makes a collector of the informers that the function returns at
// each scrape: [informer.Factory.Informers], or one's own.
func NewCollector(informers func() []informer.Observed) *Collector {
	c := &Collector{informers: informers, descs: make(map[string]*prometheus.Desc)}
	for _, m := range List() {
		c.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range List() {
		out <- c.descs[m.Name]
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	now := time.Now()
	seen := make(map[string]int)
	for _, i := range c.informers() {
		st := i.Status()
		name := st.Name
		if seen[st.Name]++; seen[st.Name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[st.Name])
		}
		c.collect(out, name, &st, now)
	}
}

func (c *Collector) collect(out chan<- prometheus.Metric, name string, st *informer.Status, now time.Time) {
	for _, m := range informerMetrics() {
		if v, known := m.value(st, now); known {
			c.send(out, m.Metric, v, name)
		}
	}
	phase, relists := labeled()
	for p := reflector.Idle; p <= reflector.Stopped; p++ {
		c.send(out, phase, truth(st.Phase == p), name, p.String())
	}
	for reason, n := range st.Relists {
		c.send(out, relists, float64(n), name, string(reason))
	}
	handlers := byName(st.Handlers)
	for _, m := range handlerMetrics() {
		for handler, group := range handlers {
			total := 0.0
			for _, h := range group {
				if v := m.value(h); m.largest {
					total = max(total, v)
				} else {
					total += v
				}
			}
			c.send(out, m.Metric, total, name, handler)
		}
	}
}

func (c *Collector) send(out chan<- prometheus.Metric, m Metric, v float64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.Type == "counter" {
		kind = prometheus.CounterValue
	}
	out <- prometheus.MustNewConstMetric(c.descs[m.Name], kind, v, labels...)
}

// byName groups handlers by their label, in the order of registration: those
// that were there first keep their series.
func byName(handlers []informer.HandlerStatus) map[string][]*informer.HandlerStatus {
	groups := make(map[string][]*informer.HandlerStatus)
	for n := range handlers {
		h := &handlers[n]
		label := h.Name
		if groups[label] == nil && len(groups) >= MaxHandlers {
			label = others
		}
		groups[label] = append(groups[label], h)
	}
	return groups
}
