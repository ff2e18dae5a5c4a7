// Package metrics shows informers to Prometheus.
//
//	registry.MustRegister(metrics.NewCollector(factory.Informers))
//
// A scrape reads [informer.Status] of each informer: nothing is counted twice,
// and an informer that nobody scrapes pays nothing. docs/observability.md in the
// repository lists the metrics.
//
// # Labels
//
// informer is the informer's name; the second one of a name is "name#2", and so
// on. handler is the handler's name: handlers of one name are one series, with
// the sum of their counts and the largest of their delays, and beyond
// [MaxHandlers] names of an informer the rest is one series, "(others)". phase
// and reason have a fixed set of values. No label holds a namespace, a key or an
// error.
//
// A handler that is removed takes its counts with it, which Prometheus takes for
// a counter that began anew.
package metrics
