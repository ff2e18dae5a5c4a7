package compare

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"informer.example/object"
)

// floorPipeline is the least that can be done: one goroutine takes events off
// the feed, puts them into a map behind a lock, and calls the handlers itself.
type floorPipeline struct {
	mu       sync.RWMutex
	pods     map[object.Key]*corev1.Pod
	handlers []func(old, pod *corev1.Pod)
	end      func()
}

func startFloor(_ testing.TB, f *feed) pipeline {
	p := &floorPipeline{pods: make(map[object.Key]*corev1.Pod)}
	for _, pod := range f.list {
		p.pods[object.Key{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	p.end = running(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case e := <-f.events:
				pod := e.Object.(*corev1.Pod)
				key := object.Key{Namespace: pod.Namespace, Name: pod.Name}
				p.mu.Lock()
				old := p.pods[key]
				p.pods[key] = pod
				p.mu.Unlock()
				for _, tell := range p.handlers {
					tell(old, pod)
				}
			}
		}
	})
	return p
}

// addHandler is called before the first event is sent.
func (p *floorPipeline) addHandler(_ testing.TB, tell func(old, pod *corev1.Pod)) func() bool {
	p.handlers = append(p.handlers, tell)
	return func() bool { return true }
}

func (p *floorPipeline) stored() []*corev1.Pod {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Collect(maps.Values(p.pods))
}

func (p *floorPipeline) stop() { p.end() }
