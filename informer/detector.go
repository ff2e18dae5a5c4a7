package informer

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// MutationPolicy says what is done about stored objects that somebody changed.
// They are shared: a change shows in the store, in other handlers and in
// indexes, as something that the server never said.
type MutationPolicy uint8

const (
	// IgnoreMutations looks for none. It is the default.
	IgnoreMutations MutationPolicy = iota
	// ReportMutations logs each mutation that is found, as a [*MutationError].
	ReportMutations
	// FailOnMutations logs it, and ends Run with it. It is meant for tests.
	FailOnMutations
)

// DefaultMutationSample is one in how many stored versions is checked.
const DefaultMutationSample = 100

const (
	// maxSamples bounds what the detector remembers.
	maxSamples = 1024
	// detectorRound is how often everything remembered is checked.
	detectorRound = 10 * time.Second
)

// WithMutationPolicy sets [Options.Mutations], and looks at one in every so many
// stored versions; 0 is [DefaultMutationSample].
func WithMutationPolicy(p MutationPolicy, oneIn int) FactoryOption {
	return setting(func(o *factoryOptions) { o.mutations, o.mutationSample = p, oneIn })
}

// MutationError says that a stored object was changed by someone who was only
// lent it.
type MutationError struct {
	Informer        string
	Key             object.Key
	ResourceVersion string
	// Handler is the last one that had been told of this version when the
	// change was noticed. Only handlers leave a trace: it may as well have been
	// whoever got the object from the store. "": no handler had been told.
	Handler string
}

func (e *MutationError) Error() string {
	suspect := "no handler had been told of it: look at who reads the store"
	if e.Handler != "" {
		suspect = "the last handler that was told of it is " + e.Handler
	}
	return fmt.Sprintf("%s: the stored object %s at version %s was changed in place; %s. Stored objects are shared: copy one (DeepCopy) before changing it",
		e.Informer, e.Key, e.ResourceVersion, suspect)
}

// detector finds objects that were changed after they were stored. It
// remembers a hash of one in every so many versions, and takes it again when a
// handler has been told of that version, when the next version replaces it,
// and every detectorRound.
//
// What is hashed is the object's JSON form: fields that JSON leaves out can
// change unseen. The cost is that of encoding, for the sampled versions only:
// once in the apply loop, once in each handler's goroutine, once when it is
// replaced. At 1 in 100 and 20 µs an encoding that is less than 1 µs an event.
//
// mu guards samples and is not held while an object is encoded, since T may
// have a MarshalJSON of its own.
type detector[T metav1.Object] struct {
	informer string
	every    int
	logger   *slog.Logger
	fail     func(error) // nil: only report
	seed     maphash.Seed

	count    int  // of versions stored; the apply loop's
	reported bool // that T can't be encoded; the apply loop's

	mu      sync.Mutex
	samples map[object.Key]*sample[T]
}

// sample is one version that is remembered.
type sample[T metav1.Object] struct {
	item    *object.Item[T]
	hash    uint64
	handler string // last told; guarded by detector.mu
}

func newDetector[T metav1.Object](informer string, every int, logger *slog.Logger, fail func(error)) *detector[T] {
	if every <= 0 {
		every = DefaultMutationSample
	}
	return &detector[T]{
		informer: informer, every: every, logger: logger, fail: fail,
		seed: maphash.MakeSeed(), samples: make(map[object.Key]*sample[T]),
	}
}

// committed is told what a commit changed, before any handler is. The apply
// loop calls it.
func (d *detector[T]) committed(changes []indexer.Change[T]) {
	for _, c := range changes {
		if c.Old != nil {
			d.replaced(c.Old)
		}
		if c.New != nil {
			d.stored(c.New)
		}
	}
}

// stored remembers a version, if it is its turn.
func (d *detector[T]) stored(item *object.Item[T]) {
	d.count++
	if d.count%d.every != 0 {
		return
	}
	hash, err := d.hash(item.Object)
	if err != nil {
		if !d.reported {
			d.reported = true
			d.logger.Warn("an object can't be encoded as JSON, so its mutations aren't looked for; this is said once",
				"informer", d.informer, "key", item.Key.String(), "err", err)
		}
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.samples) >= maxSamples {
		for key := range d.samples { // any one
			delete(d.samples, key)
			break
		}
	}
	d.samples[item.Key] = &sample[T]{item: item, hash: hash}
}

// replaced checks a version that the store no longer holds, and forgets it.
func (d *detector[T]) replaced(item *object.Item[T]) {
	if s := d.sampleOf(item); s != nil {
		d.check(s)
		d.forget(s)
	}
}

// told checks a version that a handler has been told.
func (d *detector[T]) told(item *object.Item[T], handler string) {
	s := d.sampleOf(item)
	if s == nil {
		return
	}
	d.mu.Lock()
	s.handler = handler
	d.mu.Unlock()
	d.check(s)
}

func (d *detector[T]) sampleOf(item *object.Item[T]) *sample[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.samples[item.Key]; s != nil && s.item == item {
		return s
	}
	return nil
}

// forget reports whether the sample was still remembered.
func (d *detector[T]) forget(s *sample[T]) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.samples[s.item.Key] == s
	if known {
		delete(d.samples, s.item.Key)
	}
	return known
}

// run checks everything that is remembered, again and again, until ctx ends.
func (d *detector[T]) run(ctx context.Context) {
	tick := time.NewTicker(detectorRound)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.round()
		case <-ctx.Done():
			return
		}
	}
}

// round checks everything that is remembered.
func (d *detector[T]) round() {
	d.mu.Lock()
	all := make([]*sample[T], 0, len(d.samples))
	for _, s := range d.samples {
		all = append(all, s)
	}
	d.mu.Unlock()
	for _, s := range all {
		d.check(s)
	}
}

// check hashes a version again. Each mutation is reported once.
func (d *detector[T]) check(s *sample[T]) {
	hash, err := d.hash(s.item.Object)
	if err == nil && hash == s.hash || !d.forget(s) {
		return
	}
	d.mu.Lock()
	found := &MutationError{Informer: d.informer, Key: s.item.Key, ResourceVersion: s.item.ResourceVersion, Handler: s.handler}
	d.mu.Unlock()
	d.logger.Error("a stored object was changed in place", "informer", d.informer,
		"key", found.Key.String(), "resourceVersion", found.ResourceVersion, "handler", found.Handler, "err", found)
	if d.fail != nil {
		d.fail(found)
	}
}

// hash is over what the object looks like as JSON.
func (d *detector[T]) hash(obj T) (sum uint64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding panicked: %v", p)
		}
	}()
	var h maphash.Hash
	h.SetSeed(d.seed)
	if err := json.MarshalWrite(&h, obj, json.Deterministic(true)); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}
