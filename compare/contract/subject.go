package contract

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// Subject is an informer of pods, as the suite uses it. Its methods may be called
// at any time, by any goroutine, also by a handler.
type Subject interface {
	// Run lists, watches and tells handlers until ctx ends, and returns when
	// everything has ended. It is called once, but for the clause run-once.
	Run(ctx context.Context) error
	// HasSynced reports whether the store holds the first list.
	HasSynced() bool
	// AddHandler registers a handler, before, during or after Run.
	AddHandler(h Handler) (Registration, error)
	// Get returns the pod with the key "namespace/name".
	Get(key string) (pod *corev1.Pod, exists bool)
	// List returns all pods.
	List() []*corev1.Pod
}

// Registration is a handler's place at a Subject.
type Registration interface {
	// HasSynced reports whether the handler's last call for the initial list has
	// returned.
	HasSynced() bool
	// Remove takes the handler off and waits for its running call. No call
	// starts after it returns.
	Remove() error
}

// Handler is told what changes. Its calls may block.
type Handler interface {
	OnAdd(pod *corev1.Pod, isInInitialList bool)
	OnUpdate(oldPod, newPod *corev1.Pod)
	// OnDelete gets the pod as it was when it was deleted, with finalStateKnown;
	// otherwise the last state that the store saw. It never gets a wrapper.
	OnDelete(pod *corev1.Pod, finalStateKnown bool)
}

// IndexFunc returns the values under which an index finds a pod.
type IndexFunc func(*corev1.Pod) ([]string, error)

// Config is what a clause asks of a Subject. A Subject that can't do it answers
// with an error that wraps [errors.ErrUnsupported].
type Config struct {
	// REST leads to the server, in memory and in JSON. Its transport counts the
	// requests.
	REST *rest.Config
	// Namespace limits what is asked for; "" is all.
	Namespace string
	// LabelSelector is the server's to apply.
	LabelSelector string
	// Transform is called for each pod received, before anything else sees it.
	Transform func(*corev1.Pod) (*corev1.Pod, error)
	// Indexers are the indexes that the store has from the start.
	Indexers map[string]IndexFunc
	// Resync is how often the store is replayed to each handler. 0: never.
	Resync time.Duration
	// SurvivePanics wants a panic of a user's function to be survived.
	SurvivePanics bool
}

// Indexed is a Subject that has indexes.
type Indexed interface {
	ByIndex(name, value string) ([]*corev1.Pod, error)
	// AddIndexers adds indexes at any time. They are complete when it returns.
	AddIndexers(map[string]IndexFunc) error
}

// Explaining is a Subject that says why it isn't in order.
type Explaining interface {
	// LastError returns the newest error of a request or a stream, nil if there
	// was none.
	LastError() error
	// Refused returns how many objects were received that couldn't be used: they
	// couldn't be decoded, or the transform failed.
	Refused() int
	// WaitForSync returns nil once HasSynced is true, and says why not when ctx
	// ends first.
	WaitForSync(ctx context.Context) error
}

// Versioned is a Subject that says which of the server's versions its store
// stands for.
type Versioned interface {
	ResourceVersion() string
}

// Capability is something that not every informer can do.
type Capability string

// The capabilities.
const (
	Watch        Capability = "watch"         // it is told of each change as it happens
	ManyHandlers Capability = "many handlers" // more than one, also late, and they can be removed
	Indexes      Capability = "indexes"       // Indexed, and Config.Indexers
	Transforms   Capability = "transforms"    // Config.Transform
	Resyncs      Capability = "resyncs"       // Config.Resync
	Panics       Capability = "panics"        // Config.SurvivePanics
	Explains     Capability = "explains"      // Explaining
	Versions     Capability = "versions"      // Versioned
)

// Implementation is a kind of Subject under test.
type Implementation struct {
	Name string
	// New makes a Subject that doesn't run yet.
	New func(Config) (Subject, error)
	// Lacks says what it can't do, each with the reason in one sentence. A
	// clause that needs it is run nevertheless, and must not hold.
	Lacks map[Capability]string
	// Differs names the clauses that it breaks on purpose, each with the
	// reason in one sentence. A clause in here that holds is an error.
	Differs map[string]string
}

// reason is why the clause is expected not to hold, "" if it is to.
func (i Implementation) reason(c *clause) string {
	if why, ok := i.Differs[c.id]; ok {
		return why
	}
	for _, n := range c.needs {
		if why, ok := i.Lacks[n]; ok {
			return why
		}
	}
	return ""
}
