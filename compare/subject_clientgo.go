package compare

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// clientGoSubject is client-go's shared informer at its default feature gates,
// made by its factory in the way that its users do.
type clientGoSubject struct {
	factory      informers.SharedInformerFactory
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	cancel       context.CancelFunc
	lastError    chan error // holds the newest
}

func startClientGo(s surroundings) (subject, error) {
	cfg := rest.CopyConfig(s.config)
	cfg.ContentType = runtime.ContentTypeJSON
	cfg.AcceptContentTypes = runtime.ContentTypeJSON
	if s.encoding == Protobuf {
		cfg.ContentType = runtime.ContentTypeProtobuf
		cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	clientset, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &clientGoSubject{lastError: make(chan error, 1)}
	c.factory = informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(s.namespace))
	c.informer = c.factory.Core().V1().Pods().Informer()
	if err := c.informer.SetWatchErrorHandler(c.note); err != nil {
		return nil, err
	}
	if c.registration, err = c.informer.AddEventHandler(podHandler(s.recorder)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.factory.Start(ctx.Done())
	return c, nil
}

func podHandler(r *recorder) cache.ResourceEventHandler {
	set := func(obj any) {
		pod := obj.(*corev1.Pod)
		r.set(string(pod.UID), pod.ResourceVersion)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, obj any) { set(obj) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				r.deleted(string(pod.UID))
			}
		},
	}
}

// note keeps the newest error. It has one caller at a time.
func (c *clientGoSubject) note(_ *cache.Reflector, err error) {
	select {
	case <-c.lastError:
	default:
	}
	c.lastError <- err
}

func (c *clientGoSubject) waitForSync(ctx context.Context) error {
	if cache.WaitForCacheSync(ctx.Done(), c.registration.HasSynced) {
		return nil
	}
	select {
	case err := <-c.lastError:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	default:
		return context.Cause(ctx)
	}
}

func (c *clientGoSubject) versions() []Version {
	stored := c.informer.GetStore().List()
	pods := make([]*corev1.Pod, len(stored))
	for i, obj := range stored {
		pods[i] = obj.(*corev1.Pod)
	}
	return podVersions(pods)
}

func (c *clientGoSubject) stop() {
	c.cancel()
	c.factory.Shutdown()
}
