package informer

import (
	"maps"
	"slices"

	"informer.example/object"
	"informer.example/reflector"
)

// status fills in what the parts say.
func (s *scope[T]) status(st *Status) {
	s.mu.Lock()
	st.Synced = s.all
	parts := slices.Clone(s.parts)
	synced := make([]bool, len(parts))
	errs := make([]error, len(parts))
	for n, p := range parts {
		synced[n], errs[n] = p.synced, p.err
	}
	s.mu.Unlock()

	if s.newSource == nil {
		st.Status, st.QueueDepth = parts[0].reflector.Status(), parts[0].queue.Depth()
		return
	}
	st.Namespaces = make([]NamespaceStatus, 0, len(parts))
	for n, p := range parts {
		ns := NamespaceStatus{
			Namespace: p.namespace, Synced: synced[n], Err: errs[n],
			Status: p.reflector.Status(), QueueDepth: p.queue.Depth(),
		}
		st.QueueDepth += ns.QueueDepth
		st.Namespaces = append(st.Namespaces, ns)
	}
	st.Status = summary(st.Namespaces)
}

// phasesByHealth has the worst first.
var phasesByHealth = [...]reflector.Phase{reflector.Stopped, reflector.Waiting, reflector.Idle, reflector.Listing, reflector.Polling, reflector.Watching}

// summary makes one status of many: see Status.Namespaces.
func summary(namespaces []NamespaceStatus) reflector.Status {
	var sum reflector.Status
	for n, ns := range namespaces {
		if n == 0 || slices.Index(phasesByHealth[:], ns.Phase) < slices.Index(phasesByHealth[:], sum.Phase) {
			sum.Phase, sum.Since, sum.NextAttempt = ns.Phase, ns.Since, ns.NextAttempt
		}
		if n == 0 || ns.LastHeard.Before(sum.LastHeard) {
			sum.LastHeard = ns.LastHeard
		}
		if n == 0 || ns.FreshAt.Before(sum.FreshAt) {
			sum.FreshAt = ns.FreshAt
		}
		if n == 0 || object.Newer(sum.ResourceVersion, ns.ResourceVersion) || ns.ResourceVersion == "" {
			sum.ResourceVersion = ns.ResourceVersion
		}
		if sum.LastError == nil {
			sum.LastError = ns.LastError
		}
		sum.Attempts = max(sum.Attempts, ns.Attempts)
		if sum.FailingSince.IsZero() || !ns.FailingSince.IsZero() && ns.FailingSince.Before(sum.FailingSince) {
			sum.FailingSince = ns.FailingSince
		}
		sum.Lists += ns.Lists
		sum.WatchLists += ns.WatchLists
		sum.Watches += ns.Watches
		sum.Dropped += ns.Dropped
		sum.Quarantined += ns.Quarantined
		sum.Reused += ns.Reused
		if len(ns.Relists) > 0 && sum.Relists == nil {
			sum.Relists = maps.Clone(ns.Relists)
			continue
		}
		for reason, count := range ns.Relists {
			sum.Relists[reason] += count
		}
	}
	return sum
}
