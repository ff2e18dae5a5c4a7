package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
)

// Names of the subjects.
const (
	naiveName     = "naive"
	oursName      = "ours"
	deltaFIFOName = "ours-deltafifo"
	clientGoName  = "client-go"
)

// SubjectNames lists the subjects that there are.
func SubjectNames() []string { return []string{naiveName, oursName, deltaFIFOName, clientGoName} }

// surroundings are what a subject is given: the same for all (M6).
type surroundings struct {
	config       *rest.Config
	namespace    string // "" for all
	encoding     Encoding
	pollInterval time.Duration
	recorder     *recorder
}

// subject is a running cache of pods.
type subject interface {
	// waitForSync returns when the handler has been told the first list.
	waitForSync(context.Context) error
	// versions is what the cache holds.
	versions() []Version
	// stop ends it and returns when its goroutines are gone.
	stop()
}

func startSubject(name string, s surroundings) (subject, error) {
	switch name {
	case naiveName:
		return startNaive(s)
	case oursName, deltaFIFOName:
		return startOurs(name, s)
	case clientGoName:
		return startClientGo(s)
	}
	return nil, fmt.Errorf("unknown subject %q", name)
}

// background runs a function until it is stopped, and remembers why it ended
// before that.
type background struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // set before ended is closed
}

func inBackground(run func(context.Context) error) *background {
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		b.err = run(ctx)
	}()
	return b
}

// wait returns when ready is closed; an error if the function, or ctx, ends
// first.
func (b *background) wait(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-b.ended:
		if b.err != nil {
			return b.err
		}
		return errors.New("it ended by itself")
	}
}

func (b *background) stop() {
	b.cancel()
	<-b.ended
}
