package metrics

import (
	"time"

	"informer.example/informer"
)

// Metric is one of the metrics that a [Collector] has.
type Metric struct {
	Name   string
	Type   string // "counter" or "gauge"
	Labels []string
	Help   string
}

// perInformer is a metric with one series for each informer.
type perInformer struct {
	Metric
	value func(st *informer.Status, now time.Time) (v float64, known bool)
}

// perHandler is a metric with one series for each name of a handler. Several
// handlers of one name are summed, or, with largest, the largest counts.
type perHandler struct {
	Metric
	largest bool
	value   func(h *informer.HandlerStatus) float64
}

func counter(name, help string, value func(st *informer.Status) float64) perInformer {
	return perInformer{Metric{name, "counter", []string{"informer"}, help}, func(st *informer.Status, _ time.Time) (float64, bool) { return value(st), true }}
}

func gauge(name, help string, value func(st *informer.Status) float64) perInformer {
	return perInformer{Metric{name, "gauge", []string{"informer"}, help}, func(st *informer.Status, _ time.Time) (float64, bool) { return value(st), true }}
}

func informerMetrics() []perInformer {
	return []perInformer{
		gauge("informer_synced", "1 when the first list has been applied, of every namespace; 0 before.",
			func(st *informer.Status) float64 { return truth(st.Synced) }),
		gauge("informer_objects", "Objects in the store.",
			func(st *informer.Status) float64 { return float64(st.Objects) }),
		gauge("informer_queue_depth", "Deltas received and not yet applied.",
			func(st *informer.Status) float64 { return float64(st.QueueDepth) }),
		{Metric{"informer_age_seconds", "gauge", []string{"informer"}, "How long no server has said that this is the state. Absent before the first list."},
			func(st *informer.Status, now time.Time) (float64, bool) {
				return st.Age(now).Seconds(), !st.FreshAt.IsZero()
			}},
		{Metric{"informer_last_heard_timestamp_seconds", "gauge", []string{"informer"}, "When the server last sent something, in Unix time. Absent before that."},
			func(st *informer.Status, _ time.Time) (float64, bool) {
				return float64(st.LastHeard.UnixMilli()) / 1000, !st.LastHeard.IsZero()
			}},
		gauge("informer_failed_attempts", "Failed attempts since the last success.",
			func(st *informer.Status) float64 { return float64(st.Attempts) }),
		{Metric{"informer_failing_seconds", "gauge", []string{"informer"}, "For how long attempts have failed; 0 while they succeed."},
			func(st *informer.Status, now time.Time) (float64, bool) {
				if st.FailingSince.IsZero() {
					return 0, true
				}
				return max(now.Sub(st.FailingSince), 0).Seconds(), true
			}},
		counter("informer_lists_total", "Lists started, in pages or as watch-lists.",
			func(st *informer.Status) float64 { return float64(st.Lists) }),
		counter("informer_watch_lists_total", "Lists started as watch-lists.",
			func(st *informer.Status) float64 { return float64(st.WatchLists) }),
		counter("informer_watches_total", "Watches started.",
			func(st *informer.Status) float64 { return float64(st.Watches) }),
		counter("informer_dropped_events_total", "Events not applied because they were older than what was known.",
			func(st *informer.Status) float64 { return float64(st.Dropped) }),
		counter("informer_quarantined_objects_total", "Objects received that could not be decoded or transformed.",
			func(st *informer.Status) float64 { return float64(st.Quarantined) }),
		counter("informer_reused_objects_total", "Objects received and not decoded, since they are stored in that version.",
			func(st *informer.Status) float64 { return float64(st.Reused) }),
		counter("informer_stale_objects_total", "Objects received that were not newer than the stored ones.",
			func(st *informer.Status) float64 { return float64(st.Stale) }),
		counter("informer_drift_objects_total", "Objects that a list showed otherwise than the store at the same version.",
			func(st *informer.Status) float64 { return float64(st.Drift) }),
		counter("informer_filtered_objects_total", "Objects received that did not pass the informer's filter.",
			func(st *informer.Status) float64 { return float64(st.Filtered) }),
		counter("informer_index_errors_total", "Calls of index functions that failed.",
			func(st *informer.Status) float64 { return float64(st.IndexErrors) }),
		gauge("informer_namespaces", "Namespaces that are watched one by one; 0 when all are watched as one.",
			func(st *informer.Status) float64 { return float64(len(st.Namespaces)) }),
		gauge("informer_namespaces_synced", "Those of them whose first list has been applied.",
			func(st *informer.Status) float64 { synced, _ := namespaces(st); return synced }),
		gauge("informer_namespaces_given_up", "Those of them that have ended with an error.",
			func(st *informer.Status) float64 { _, failed := namespaces(st); return failed }),
		gauge("informer_handlers", "Handlers that are registered.",
			func(st *informer.Status) float64 { return float64(len(st.Handlers)) }),
	}
}

// labeled are the two metrics with a label of their own.
func labeled() (phase, relists Metric) {
	return Metric{"informer_phase", "gauge", []string{"informer", "phase"}, "1 for the phase that the informer is in, 0 for the others."},
		Metric{"informer_relists_total", "counter", []string{"informer", "reason"}, "Complete lists after the first, by reason."}
}

func handlerMetrics() []perHandler {
	one := func(name, kind, help string, largest bool, value func(h *informer.HandlerStatus) float64) perHandler {
		return perHandler{Metric{name, kind, []string{"informer", "handler"}, help}, largest, value}
	}
	return []perHandler{
		one("informer_handler_registrations", "gauge", "Handlers of this name.", false,
			func(*informer.HandlerStatus) float64 { return 1 }),
		one("informer_handler_unsynced", "gauge", "Handlers that have not been told the first list.", false,
			func(h *informer.HandlerStatus) float64 { return truth(!h.Synced) }),
		one("informer_handler_calls_total", "counter", "Calls that returned or panicked.", false,
			func(h *informer.HandlerStatus) float64 { return float64(h.Delivered) }),
		one("informer_handler_lag_events", "gauge", "Events that wait for the handler.", true,
			func(h *informer.HandlerStatus) float64 { return float64(h.Lag) }),
		one("informer_handler_oldest_seconds", "gauge", "For how long the oldest of them has waited.", true,
			func(h *informer.HandlerStatus) float64 { return h.Oldest.Seconds() }),
		one("informer_handler_running_seconds", "gauge", "For how long the present call has run; 0 when there is none.", true,
			func(h *informer.HandlerStatus) float64 { return h.Running.Seconds() }),
		one("informer_handler_last_call_seconds", "gauge", "How long the last call took.", true,
			func(h *informer.HandlerStatus) float64 { return h.LastCall.Seconds() }),
		one("informer_handler_slow_calls_total", "counter", "Calls that were reported for taking long.", false,
			func(h *informer.HandlerStatus) float64 { return float64(h.SlowCalls) }),
		one("informer_handler_fell_behind_total", "counter", "Times that it was told differences, since too many events waited.", false,
			func(h *informer.HandlerStatus) float64 { return float64(h.FellBehind) }),
		one("informer_handler_panics_total", "counter", "Calls that panicked and were isolated.", false,
			func(h *informer.HandlerStatus) float64 { return float64(h.Panics) }),
		one("informer_handler_replays_dropped_total", "counter", "Objects that a resync left out.", false,
			func(h *informer.HandlerStatus) float64 { return float64(h.ReplaysDropped) }),
	}
}

// List returns the metrics, in a fixed order.
func List() []Metric {
	var all []Metric
	for _, m := range informerMetrics() {
		all = append(all, m.Metric)
	}
	phase, relists := labeled()
	all = append(all, phase, relists)
	for _, m := range handlerMetrics() {
		all = append(all, m.Metric)
	}
	return all
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func namespaces(st *informer.Status) (synced, failed float64) {
	for n := range st.Namespaces {
		synced += truth(st.Namespaces[n].Synced)
		failed += truth(st.Namespaces[n].Err != nil)
	}
	return synced, failed
}
