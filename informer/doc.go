// Package informer keeps a local copy of the objects of a Kubernetes resource
// and tells handlers what changes in it.
//
//	            reflector                 apply loop                handlers
//	         ┌────────────┐  deltas   ┌────────────────┐
//	bytes ──►│ list, watch├──► queue ─►│ commit to store├─► event log ─► handler A
//	         └────────────┘           └───────┬────────┘       │  └───► handler B
//	                                          ▼                └─ fell behind:
//	                              snapshots: GetIndexer,          Diff(told, now)
//	                              Lister, Snapshot
//
// The one idea behind it: the store can hand out an immutable snapshot of
// itself at any moment for next to nothing, and what a handler is told is the
// difference between two states. A handler that joins late is told the
// difference from nothing to now. A new list after lost history is told as the
// difference between before and after. A handler that falls behind is told the
// difference between what it knows and what is.
//
// # Watching pods
//
//	f := informer.NewFactory(restConfig)
//	pods, err := informer.For[*corev1.Pod](f)
//	...
//	pods.AddIndexers(indexer.Indexers[*corev1.Pod]{
//		"byIP": indexer.SimpleIndex(func(pod *corev1.Pod) string { return pod.Status.PodIP }),
//	})
//	pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
//		AddFunc:    func(pod *corev1.Pod) { ... },
//		UpdateFunc: func(old, pod *corev1.Pod) { ... },
//		DeleteFunc: func(pod *corev1.Pod, finalStateKnown bool) { ... },
//	})
//	f.Start(ctx)
//	defer f.Shutdown()
//	if err := f.WaitForCacheSync(ctx); err != nil { ... } // says why not
//
//	pod, found, err := pods.GetIndexer().GetByKey("default/web-0")
//	same, err := pods.GetIndexer().ByIndex("byIP", "10.0.0.7")
//	running, err := pods.Lister().List(metav1.ListOptions{FieldSelector: "status.phase=Running"})
//
// # Promises
//
//   - H1 Every event is the step from one state of the store to a later one.
//     Replaying all that a handler was told gives a state of the store.
//   - H2 A registration is told each object of the store once as Added, marked
//     Initial, before any other event of that object. It has synced when the
//     last of those calls has returned.
//   - H3 A list is one commit. No reader and no handler sees half of one, and
//     objects that are the same version as before are not told.
//   - H4 The calls of one handler never overlap, and those about one key come
//     in the server's order. Live events about different keys come in the
//     server's order too, except through a DeltaFIFO, which groups them by key, and
//     except across the namespaces of a set, each of which is watched by itself.
//     Lists and differences come in the order of keys.
//   - H5 An object that was deleted and made anew under the same name is told
//     as Deleted, then Added, also when a list finds it. Where one list or one
//     event brings both, readers never see the name missing in between.
//   - H6 A handler is told every event while fewer than MaxLag wait for it.
//     Beyond that it is told differences, one for each key. The memory that a
//     blocked handler costs is bounded by the objects that live, not by the
//     events that pass.
//   - H7 No lock is held while a handler, an index function or any other
//     function of the user runs.
//   - H8 When Run returns, no call runs, none will start, and no goroutine of
//     the informer is left.
//   - H9 When a handler is told an event, the store is at that state or a
//     later one.
//   - H10 A namespace that is added, removed, relisted or failing changes
//     nothing of what the store holds of the others.
//   - H11 Who asks a factory for an informer gets one that has the objects that
//     were asked for, in the form that was asked for, or an error that says what
//     differs.
//   - H12 An informer of a factory lives until all to whom it was given have
//     released it. Of the handlers of one who has released it, at most the call
//     goes on that was running, and whatever waits through it ends.
//
// # Not promised
//
//   - That a handler sees every state in between: what happens while the
//     watch is down, or while the handler is behind, arrives as one step.
//   - That the store is current. It is some earlier state of the server:
//     Status says when the server was last heard.
//   - That handlers agree with each other at any moment. Each has its own pace.
//   - That events which are pending when Run ends, or when a handler is
//     removed, are told.
//   - That a Resync finds anything: it replays the store and asks the server
//     nothing.
//
// Objects are shared between the store, handlers and readers. Changing one is
// a bug: DeepCopy it first.
package informer
