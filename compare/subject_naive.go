package compare

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"informer.example/informer"
	"informer.example/naive"
	"informer.example/reflector"
)

// naiveSubject polls, compares, and keeps the state.
type naiveSubject struct {
	*background
	poller *naive.Poller[*corev1.Pod]
}

func startNaive(s surroundings) (subject, error) {
	source, err := reflector.NewHTTPSource(s.config, corev1.SchemeGroupVersion.WithResource("pods"), reflector.SourceOptions[*corev1.Pod]{
		Namespace: s.namespace,
		Encoding:  ourEncoding(s.encoding),
	})
	if err != nil {
		return nil, err
	}
	poller := naive.NewPoller[*corev1.Pod](source, tellRecorder(s.recorder), naive.Options{Interval: s.pollInterval})
	return naiveSubject{inBackground(poller.Run), poller}, nil
}

func (n naiveSubject) waitForSync(ctx context.Context) error {
	err := n.wait(ctx, n.poller.Synced())
	if last := n.poller.Stats().LastError; err != nil && last != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

func (n naiveSubject) versions() []Version { return podVersions(n.poller.List()) }

// tellRecorder is the handler of naive and ours.
func tellRecorder(r *recorder) informer.EventHandler[*corev1.Pod] {
	return informer.HandlerFunc[*corev1.Pod](func(e informer.Event[*corev1.Pod]) {
		if e.Type == informer.Deleted {
			r.deleted(string(e.UID))
			return
		}
		r.set(string(e.UID), e.ResourceVersion)
	})
}

func ourEncoding(e Encoding) reflector.Encoding {
	if e == JSON {
		return reflector.EncodingJSON
	}
	return reflector.EncodingProtobuf
}

func podVersions(pods []*corev1.Pod) []Version {
	versions := make([]Version, len(pods))
	for i, p := range pods {
		versions[i] = Version{Key: p.Namespace + "/" + p.Name, UID: string(p.UID), ResourceVersion: p.ResourceVersion}
	}
	return versions
}
