package compare

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"informer.example/informer"
	"informer.example/reflector"
)

// oursSubject is this module's informer.
type oursSubject struct {
	*background
	informer     *informer.Informer[*corev1.Pod]
	registration *informer.Registration[*corev1.Pod]
}

func startOurs(name string, s surroundings) (subject, error) {
	source, err := reflector.NewHTTPSource(s.config, corev1.SchemeGroupVersion.WithResource("pods"), reflector.SourceOptions[*corev1.Pod]{
		Namespace: s.namespace,
		Encoding:  ourEncoding(s.encoding),
	})
	if err != nil {
		return nil, err
	}
	opts := informer.Options[*corev1.Pod]{Name: "pods"}
	if name == deltaFIFOName {
		opts.Queue = informer.DeltaFIFO
	}
	inf := informer.New[*corev1.Pod](source, opts)
	registration, err := inf.AddEventHandler(tellRecorder(s.recorder))
	if err != nil {
		return nil, err
	}
	return oursSubject{inBackground(inf.Run), inf, registration}, nil
}

func (o oursSubject) waitForSync(ctx context.Context) error {
	if err := o.informer.WaitForSync(ctx); err != nil {
		return err // says why not
	}
	return o.wait(ctx, o.registration.Synced())
}

func (o oursSubject) versions() []Version { return podVersions(o.informer.GetIndexer().List()) }
