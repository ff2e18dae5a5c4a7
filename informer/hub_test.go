package informer

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/indexer"
	"informer.example/object"
)

type partial = *metav1.PartialObjectMetadata

// listener replays what it is told into a view of its own.
type listener struct {
	t     *testing.T
	id    string
	delay func() time.Duration

	mu   sync.Mutex
	view map[object.Key]Event[partial]
}

func (l *listener) HandleEvent(e Event[partial]) {
	time.Sleep(l.delay())
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.view[e.Key]
	legal := false
	switch e.Type {
	case Added:
		legal = !known
		l.view[e.Key] = e
	case Updated:
		legal = known && last.UID == e.UID && last.ResourceVersion == e.OldResourceVersion
		l.view[e.Key] = e
	case Deleted:
		legal = known && last.UID == e.UID
		delete(l.view, e.Key)
	}
	if !legal {
		l.t.Errorf("H1: %s: %s %s (%s → %s, UID %s) is no step from %+v (known: %v)", l.id, e.Type, e.Key, e.OldResourceVersion, e.ResourceVersion, e.UID, last, known)
	}
}

// TestHubModel commits at random to a store while handlers of every pace come
// and go. Each event must be a legal step for its handler, and when all is
// quiet every handler must know exactly what the store holds.
func TestHubModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { hubModel(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func hubModel(t *testing.T, rnd *rand.Rand) {
	store := indexer.New[partial](nil)
	hub := newHub(store, "model", slog.New(slog.DiscardHandler), &Trace{})
	maxLag := 1 + rnd.IntN(8)
	var listeners []*listener
	regs := make(map[*listener]*Registration[partial])
	join := func() {
		pace := []time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Second}[rnd.IntN(4)]
		l := &listener{t: t, id: fmt.Sprintf("handler %d (pace %v)", len(listeners), pace),
			delay: func() time.Duration { return pace }, view: make(map[object.Key]Event[partial])}
		opts := handlerOptions{maxLag: maxLag, delivery: Delivery(rnd.IntN(3)), slowCall: time.Second}
		if rnd.IntN(4) == 0 {
			opts.resync = 3 * time.Second
		}
		l.id = fmt.Sprintf("%s handler %d (pace %v)", opts.delivery, len(listeners), pace)
		r := newRegistration(hub, l, opts)
		if err := hub.add(r); err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		regs[l] = r
	}
	publish := func(s *segment[partial]) {
		if wait := hub.publish(s); wait {
			if err := hub.awaitBlocking(t.Context()); err != nil {
				t.Error(err)
			}
			if hub.tooFarBehind() {
				t.Errorf("the apply loop goes on, and more than %d events wait for a Block handler", maxLag)
			}
		}
	}
	join()
	hub.start()

	rv := 0
	item := func(name string, uid int) object.Item[partial] {
		rv++
		key := object.Key{Namespace: "ns", Name: name}
		return object.Item[partial]{Key: key, UID: types.UID(strconv.Itoa(uid)), ResourceVersion: strconv.Itoa(rv), Object: &metav1.PartialObjectMetadata{}}
	}
	name := func() string { return string(rune('a' + rnd.IntN(12))) }
	for range 150 {
		switch n := rnd.IntN(20); {
		case n < 14:
			var b indexer.Batch[partial]
			for range 1 + rnd.IntN(4) {
				if rnd.IntN(3) == 0 {
					b.Delete(object.Item[partial]{Key: object.Key{Namespace: "ns", Name: name()}})
				} else {
					b.SetNewer(item(name(), rnd.IntN(2)))
				}
			}
			if result := store.Commit(&b, strconv.Itoa(rv)); len(result.Changes) > 0 {
				publish(&segment[partial]{seq: result.Sequence, source: FromWatch, changes: result.Changes})
			} else {
				hub.advance(result.Sequence)
			}
		case n < 15:
			var list []object.Item[partial]
			for c := 'a'; c < 'm'; c++ {
				if rnd.IntN(2) == 0 {
					list = append(list, item(string(c), rnd.IntN(2)))
				}
			}
			before, after, _ := store.ReplaceItems(list, nil, strconv.Itoa(rv))
			publish(&segment[partial]{seq: after.Sequence(), source: FromRelist, before: before, after: after})
			if !hub.synced {
				hub.markSynced()
			}
		case n < 17:
			join()
		case n < 18 && len(listeners) > 1:
			l := listeners[rnd.IntN(len(listeners))]
			if r := regs[l]; r != nil {
				if err := hub.remove(r, ErrHandlerRemoved); err != nil {
					t.Error(err)
				}
				<-r.Done()
				delete(regs, l)
			}
		default:
			time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
		}
	}
	if !hub.synced {
		hub.markSynced()
	}

	time.Sleep(2 * time.Minute) // virtual: the slowest has long caught up
	synctest.Wait()
	now := store.Snapshot()
	for l, r := range regs {
		l.mu.Lock()
		if len(l.view) != now.Len() {
			t.Errorf("%s knows %d objects, the store has %d", l.id, len(l.view), now.Len())
		}
		for it := range now.Items() {
			if e := l.view[it.Key]; e.UID != it.UID || e.ResourceVersion != it.ResourceVersion {
				t.Errorf("%s knows %s at %s/%s, the store has %s/%s", l.id, it.Key, e.UID, e.ResourceVersion, it.UID, it.ResourceVersion)
			}
		}
		l.mu.Unlock()
		if !r.HasSynced() {
			t.Errorf("H2: %s has been told everything and has not synced", l.id)
		}
	}
	hub.stop()
	for l, r := range regs {
		select {
		case <-r.Done():
		default:
			t.Errorf("%s is not done after stop", l.id)
		}
	}
}

// The view of a handler that fell behind must be exactly what it was told,
// whatever had been pending.
func TestViewDiff(t *testing.T) {
	it := func(name, uid, rv string) *object.Item[partial] {
		return &object.Item[partial]{Key: object.Key{Name: name}, UID: types.UID(uid), ResourceVersion: rv, Object: &metav1.PartialObjectMetadata{}}
	}
	for _, tt := range []struct {
		told, current *object.Item[partial]
		want          []indexer.ChangeType
		why           string
	}{
		{nil, nil, nil, "came and went unseen"},
		{nil, it("a", "u", "1"), []indexer.ChangeType{indexer.Added}, "new"},
		{it("a", "u", "1"), nil, []indexer.ChangeType{indexer.Deleted}, "gone"},
		{it("a", "u", "1"), it("a", "u", "3"), []indexer.ChangeType{indexer.Updated}, "two updates are one"},
		{it("a", "u", "1"), it("a", "u", "1"), nil, "unchanged"},
		{it("a", "u", "1"), it("a", "v", "3"), []indexer.ChangeType{indexer.Deleted, indexer.Added}, "made anew"},
	} {
		var got []indexer.ChangeType
		for _, c := range steps(tt.told, tt.current, end[partial]{}) {
			got = append(got, c.Type)
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}
