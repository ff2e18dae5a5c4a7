package informer_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// A Trace is told each step from the wire to the return of a handler.
func ExampleTrace() {
	server := apisim.New()
	if _, err := server.Create(podsGVR, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}); err != nil {
		log.Fatal(err)
	}
	trace := &informer.Trace{
		Wire: reflector.Trace{Decoded: func(i reflector.DecodedInfo) {
			if i.Event != reflector.Bookmark {
				fmt.Println("decoded", i.Key)
			}
		}},
		Queueing:   func(i informer.QueueingInfo) { fmt.Println("queueing", i.Objects, "object") },
		Committed:  func(i informer.CommittedInfo) { fmt.Println("committed from a", i.Source) },
		Delivering: func(i informer.DeliveringInfo) { fmt.Println("delivering to", i.Handler) },
		Returned:   func(i informer.ReturnedInfo) { fmt.Println("returned", i.Key) },
	}
	f := informer.NewFactory(server.Config(),
		informer.WithTrace(func(string) *informer.Trace { return trace }),
		informer.WithLogger(slog.New(slog.DiscardHandler)))
	pods, err := informer.For[*corev1.Pod](f)
	if err != nil {
		log.Fatal(err)
	}
	r, err := pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{}, informer.WithName("my handler"))
	if err != nil {
		log.Fatal(err)
	}
	f.Start(context.Background())
	if err := r.WaitForSync(context.Background()); err != nil {
		log.Fatal(err)
	}
	f.Shutdown()
	// Output:
	// decoded default/web-0
	// queueing 1 object
	// committed from a list
	// delivering to my handler
	// returned default/web-0
}
