package naive

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
	"informer.example/reflector"
)

// fetched is one complete list.
type fetched[T metav1.Object] struct {
	state           State[T]
	resourceVersion string
	quarantined     []reflector.Quarantine
}

// fetch gets all pages of one list, or fails (N9). It starts from the most
// recent state, not from the server's cache: a poll must not go back in time.
func (p *Poller[T]) fetch(ctx context.Context, before State[T]) (fetched[T], error) {
	f := fetched[T]{state: make(State[T], len(before))}
	received := 0
	take := func(is object.Item[T]) error {
		received++
		if received > p.opts.MaxObjects {
			return fmt.Errorf("more than %d objects (Options.MaxObjects): narrow the list by namespace or selector, or raise the limit", p.opts.MaxObjects)
		}
		// The object held already, when it is the same: the copy just decoded
		// can be freed, and readers see the same pointer from poll to poll.
		if was, known := before[is.Key]; known && was.SameVersion(is) {
			is = was
		}
		f.state[is.Key] = is
		return nil
	}
	token := ""
	for page := 1; ; page++ {
		meta, err := p.page(ctx, token, take)
		switch {
		case err != nil:
		case page > 1 && meta.ResourceVersion != f.resourceVersion:
			// Pages of one list are of one moment. What is of two may show an
			// object twice, or miss one that was there all the time.
			err = fmt.Errorf("the list changed from resourceVersion %q to %q between two pages", f.resourceVersion, meta.ResourceVersion)
		case meta.Continue != "" && meta.Continue == token:
			err = fmt.Errorf("the server gave the same continue token twice")
		}
		if err != nil {
			return fetched[T]{}, &PollError{Page: page, Objects: received, Err: err}
		}
		f.resourceVersion = meta.ResourceVersion
		f.quarantined = append(f.quarantined, meta.Quarantined...)
		if token = meta.Continue; token == "" {
			break
		}
	}
	f.keepQuarantined(before)
	return f, nil
}

// page fetches one page. A server that says nothing is given up on: no one
// else watches the clock.
func (p *Poller[T]) page(ctx context.Context, token string, take func(object.Item[T]) error) (reflector.ListMeta, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.opts.PageTimeout,
		fmt.Errorf("no complete answer within %v (Options.PageTimeout)", p.opts.PageTimeout))
	defer cancel()
	p.count(func(s *Stats) { s.Requests++ })
	meta, err := p.source.List(ctx, reflector.ListOptions{Limit: p.opts.PageSize, Continue: token}, take)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return meta, err
}

// keepQuarantined adds what the list says exists but could not hand over (N10).
func (f *fetched[T]) keepQuarantined(before State[T]) {
	for _, q := range f.quarantined {
		if q.Key == (object.Key{}) {
			f.keepMissing(before)
			return
		}
		if was, known := before[q.Key]; known {
			f.state[q.Key] = was
		}
	}
}

// keepMissing keeps all that is missing: any of it may be the object whose key
// couldn't be read.
func (f *fetched[T]) keepMissing(before State[T]) {
	for key, was := range before {
		if _, still := f.state[key]; !still {
			f.state[key] = was
		}
	}
}
