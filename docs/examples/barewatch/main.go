// Command barewatch prints events as they come, and keeps nothing. It is where
// most people start. What it loses is listed in package naive (B1 to B6).
//
//	go run ./docs/examples/barewatch
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/reflector"
)

func main() { example.Main(run) }

func run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	source, err := reflector.NewHTTPSource(cfg, pods, reflector.SourceOptions[*corev1.Pod]{})
	if err != nil {
		return err
	}
	// No version to watch from: the server sends all that exists first, and
	// nothing tells where that ends.
	watch, err := source.Watch(ctx, reflector.WatchOptions{})
	if err != nil {
		return err
	}
	defer watch.Close()

	for {
		event, err := watch.Next()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			// Servers end every watch sooner or later. What happens until the
			// next one is what this program would miss.
			fmt.Fprintln(out, "the server ended the watch")
			return nil
		case err != nil:
			return err
		case event.Type == reflector.Bookmark: // about the watch, not about a pod
		case event.Quarantined != nil:
			fmt.Fprintf(out, "%s %s, which can't be read: %v\n", event.Type, event.Item.Key, event.Quarantined)
		default:
			pod := event.Item.Object
			fmt.Fprintf(out, "%s happened to pod %s\n", event.Type, pod.Name)
		}
	}
}
