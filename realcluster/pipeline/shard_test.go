package pipeline

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/dynamic"

	"informer.example/compare/invariant"
	"informer.example/informer"
	"informer.example/realcluster"
	"informer.example/realcluster/gate"
	"informer.example/realcluster/wire"
	"informer.example/reflector"
)

// shards is how many informers share the objects of a resource. It divides no
// power of two, so that the bounds are crooked numbers.
const shards = 3

// Three informers have a third each: together everything, no object twice, and
// each exactly what the server's hash gives it. Whether the server selects or not
// makes no difference, not over a relist and not over a restart.
func TestS1_S2_Shards(t *testing.T) {
	for _, gate := range []bool{true, false} {
		t.Run(fmt.Sprintf("ShardedListAndWatch=%v", gate), func(t *testing.T) {
			t.Parallel()
			f := newShardFleet(t, gate)
			f.write("a", 24)
			f.start()
			f.settle("the first state")
			f.checkAsked()

			f.write("b", 6)
			f.disturb("a")
			f.settle("live")

			for _, s := range f.subjects {
				s.gate().Cut()
			}
			f.disturb("b")
			f.write("c", 6)
			f.forget()
			for _, s := range f.subjects {
				s.gate().Mend()
			}
			f.settle("after history was lost")
			for _, s := range f.subjects {
				if n := s.status().Relists[reflector.RelistExpired]; n != 1 {
					t.Errorf("%s: %d relists because history had expired, want 1", s.title(), n)
				}
			}

			f.restart()
			f.disturb("c")
			f.write("d", 6)
			f.settle("after a restart")
			f.stop()
		})
	}
}

// shardFleet is a cluster of its own, the writers there, and the shards of each
// kind of informer.
type shardFleet struct {
	*testing.T
	cluster  *realcluster.Cluster
	sharding bool
	writers  []*writer
	subjects []shardFollower
}

func newShardFleet(t *testing.T, gate bool) *shardFleet {
	t.Helper()
	c := realcluster.ForTest(t, realcluster.Options{
		APIServerFlags: map[string][]string{"feature-gates": {fmt.Sprintf("ShardedListAndWatch=%v", gate)}},
		CRDs:           []*apiextensionsv1.CustomResourceDefinition{wire.WidgetCRD()},
	})
	namespace := makeNamespaceAt(t, c)
	return &shardFleet{T: t, cluster: c, sharding: gate, writers: []*writer{
		newWriterAt(t, c, podResource, namespace), newWriterAt(t, c, widgetResource, namespace),
	}}
}

func (f *shardFleet) start() {
	f.Helper()
	for _, w := range f.writers {
		w.awaitCache()
	}
	for i := range shards {
		f.subjects = append(f.subjects,
			followShard[*corev1.Pod](f, "pods, watch-list, protobuf", i, podResource, reflector.WatchListAuto, reflector.EncodingProtobuf),
			followShard[*corev1.Pod](f, "pods, list and watch, JSON", i, podResource, reflector.WatchListNever, reflector.EncodingJSON),
			followShard[*metav1.PartialObjectMetadata](f, "pods, watch-list, metadata", i, podResource, reflector.WatchListAuto, reflector.EncodingAuto),
			followShard[*unstructured.Unstructured](f, "widgets, list and watch", i, widgetResource, reflector.WatchListNever, reflector.EncodingAuto),
		)
	}
}

// write creates n objects of each resource.
func (f *shardFleet) write(prefix string, n int) {
	f.Helper()
	for _, w := range f.writers {
		for i := range n {
			w.create(fmt.Sprintf("%s-%02d", prefix, i))
		}
	}
}

// disturb changes six objects in each way that there is. An object that is made
// anew has another UID, and so perhaps another shard.
func (f *shardFleet) disturb(prefix string) {
	f.Helper()
	for _, w := range f.writers {
		for i := range 2 {
			w.touch(fmt.Sprintf("%s-%02d", prefix, i))
		}
		for i := 2; i < 4; i++ {
			w.remove(fmt.Sprintf("%s-%02d", prefix, i))
		}
		for i := 4; i < 6; i++ {
			w.remove(fmt.Sprintf("%s-%02d", prefix, i))
			w.create(fmt.Sprintf("%s-%02d", prefix, i))
		}
	}
}

// forget has etcd forget the past, and the server with it.
func (f *shardFleet) forget() {
	f.Helper()
	compactAt(f.T, f.cluster, f.writers)
	f.restart()
}

func (f *shardFleet) restart() {
	f.Helper()
	restartAt(f.T, f.cluster)
}

// settle waits until each shard's handler has been told exactly the objects of
// the shard, and holds the stores against that.
func (f *shardFleet) settle(when string) {
	f.Helper()
	for _, w := range f.writers {
		whole := w.state()
		parts := make([]map[string]version, shards)
		for i := range parts {
			parts[i] = make(map[string]version)
		}
		for key, v := range whole {
			parts[shardOf(v.UID)][key] = v
		}
		stored := make(map[string]int) // by kind of informer
		for _, s := range f.subjects {
			if s.of() != w.resource {
				continue
			}
			part := parts[s.shard()]
			eventually(f.T, when+": "+s.title()+": the handler is told the state of its shard",
				func() bool { return s.knows(part) },
				func() string { return fmt.Sprintf("want %v; %+v", part, s.status()) })
			if got := s.stored(); !maps.Equal(got, part) {
				f.Errorf("%s: %s: the store has %v, want %v", when, s.title(), got, part)
			}
			stored[s.kindOf()] += len(s.stored())
		}
		for kind, n := range stored {
			if n != len(whole) {
				f.Errorf("%s: %s: the shards have %d objects together, the server %d", when, kind, n, len(whole))
			}
		}
	}
}

// shardOf is which third an object is in, by the hash of Kubernetes' own library.
func shardOf(uid string) int {
	var hash uint64
	if _, err := fmt.Sscanf(sharding.HashField(uid), "%x", &hash); err != nil {
		panic(err)
	}
	const third = ^uint64(0) / shards // 2⁶⁴ is one more than three times this
	switch {
	case hash < third: // the first range ends at ⌊2⁶⁴/3⌋
		return 0
	case hash < 2*third: // the second at ⌊2·2⁶⁴/3⌋
		return 1
	}
	return 2
}

// checkAsked sends the selectors that the informers have sent: a server that
// selects answers with the shard and, for built-in resources, says so; another
// answers with everything.
func (f *shardFleet) checkAsked() {
	f.Helper()
	for _, s := range f.subjects {
		selector := s.asked()
		if selector == "" {
			f.Errorf("%s: no shardSelector was sent", s.title())
			continue
		}
		client, err := dynamic.NewForConfig(unlimited(f.cluster.Config()))
		if err != nil {
			f.Fatal(err)
		}
		list, err := client.Resource(s.of()).Namespace(f.writers[0].namespace).List(f.Context(), metav1.ListOptions{ShardSelector: selector})
		if err != nil {
			f.Fatalf("%s: %v", selector, err)
		}
		_, says, _ := unstructured.NestedMap(list.Object, "metadata", "shardInfo")
		want := 24
		if f.sharding {
			want = len(s.stored())
		}
		// A list of custom resources is divided without saying so (S1).
		wantSays := f.sharding && s.of() == podResource
		if len(list.Items) != want || says != wantSays {
			f.Errorf("%s: the server answers %s with %d objects (shardInfo: %v), want %d (%v)",
				s.title(), selector, len(list.Items), says, want, wantSays)
		}
	}
}

func (f *shardFleet) stop() {
	f.Helper()
	for _, s := range f.subjects {
		s.stop(f.T)
	}
}

// shardFollower is a shardSubject of any T.
type shardFollower interface {
	kindOf() string
	title() string
	shard() int
	of() schema.GroupVersionResource
	gate() *gate.Gate
	status() reflector.Status
	asked() string
	knows(map[string]version) bool
	stored() map[string]version
	stop(*testing.T)
}

// shardSubject is an informer of one shard, with a checker of the invariants.
type shardSubject[T metav1.Object] struct {
	kind     string
	index    int
	resource schema.GroupVersionResource
	factory  *informer.Factory
	informer *informer.Informer[T]
	checker  *invariant.Checker
	way      gate.Gate

	mu       sync.Mutex // guards what follows
	known    map[string]version
	selector string // the last that was sent
}

func followShard[T metav1.Object](f *shardFleet, kind string, index int, resource schema.GroupVersionResource, how reflector.WatchListMode, e reflector.Encoding) *shardSubject[T] {
	f.Helper()
	// The pace is that of subject; attempts that bring nothing follow each other quickly.
	s := &shardSubject[T]{kind: kind, index: index, resource: resource, known: make(map[string]version),
		checker: invariant.New(invariant.Options{Burst: 400})}
	config := f.cluster.Config()
	config.Dial = s.way.Dial
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return s.checker.Transport(s.noting(rt)) })
	s.factory = informer.NewFactory(config,
		informer.WithNamespace(f.writers[0].namespace), informer.WithShard(index, shards), informer.WithEncoding(e),
		informer.WithLogger(slog.New(slog.DiscardHandler)),
		informer.WithReflector(reflector.Options{
			WatchList: how, PageSize: 5,
			Backoff: reflector.Backoff{Initial: 20 * time.Millisecond, Max: 200 * time.Millisecond},
		}))
	var err error
	if s.informer, err = informer.ForResource[T](s.factory, resource); err != nil {
		f.Fatal(err)
	}
	if _, err := invariant.Attach(s.checker, s.informer); err != nil {
		f.Fatal(err)
	}
	if _, err := s.informer.AddEventHandler(informer.HandlerFunc[T](s.onEvent)); err != nil {
		f.Fatal(err)
	}
	s.factory.Start(f.Context())
	f.Cleanup(s.factory.Shutdown)
	return s
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (s *shardSubject[T]) noting(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		s.selector = r.URL.Query().Get("shardSelector")
		s.mu.Unlock()
		return next.RoundTrip(r)
	})
}

func (s *shardSubject[T]) onEvent(e informer.Event[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Type == informer.Deleted {
		delete(s.known, e.Key.String())
	} else {
		s.known[e.Key.String()] = version{string(e.UID), e.ResourceVersion}
	}
}

func (s *shardSubject[T]) kindOf() string { return s.kind }

func (s *shardSubject[T]) title() string {
	return fmt.Sprintf("%s, shard %d of %d", s.kind, s.index, shards)
}

func (s *shardSubject[T]) shard() int { return s.index }

func (s *shardSubject[T]) of() schema.GroupVersionResource { return s.resource }

func (s *shardSubject[T]) gate() *gate.Gate { return &s.way }

func (s *shardSubject[T]) status() reflector.Status { return s.informer.Status().Status }

func (s *shardSubject[T]) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.selector
}

func (s *shardSubject[T]) knows(state map[string]version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(s.known, state)
}

func (s *shardSubject[T]) stored() map[string]version {
	all := make(map[string]version)
	for item := range s.informer.Snapshot().Items() {
		all[item.Key.String()] = version{string(item.UID), item.ResourceVersion}
	}
	return all
}

func (s *shardSubject[T]) stop(t *testing.T) {
	s.factory.Shutdown()
	if err := s.checker.Err(); err != nil {
		t.Errorf("%s: %v", s.title(), err)
	}
}
