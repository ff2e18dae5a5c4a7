package reflector

import (
	"bytes"
	"context"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"informer.example/object"
)

// BenchmarkDecode decodes what a real server sent: a list, and the events of a
// watch. An op is the whole body; ns/object is what compares.
func BenchmarkDecode(b *testing.B) {
	rec := recording(b)
	for _, enc := range []string{"json", "protobuf"} {
		b.Run("what=list/type=pod/encoding="+enc, func(b *testing.B) {
			benchmarkList(b, rec["pods-list-"+enc], SourceOptions[*corev1.Pod]{})
		})
		b.Run("what=list/type=metadata/encoding="+enc, func(b *testing.B) {
			benchmarkList(b, rec["pods-metadata-list-"+enc], SourceOptions[*metav1.PartialObjectMetadata]{})
		})
		b.Run("what=watch/type=pod/encoding="+enc, func(b *testing.B) {
			benchmarkWatch(b, rec["pods-watch-"+enc], SourceOptions[*corev1.Pod]{})
		})
	}
	b.Run("what=list/type=unstructured/encoding=json", func(b *testing.B) {
		benchmarkList(b, rec["pods-list-json"], SourceOptions[*unstructured.Unstructured]{})
	})
}

func benchmarkList[T metav1.Object](b *testing.B, e recorded, o SourceOptions[T]) {
	b.SetBytes(int64(len(e.body)))
	b.ReportAllocs()
	objects := 0
	for b.Loop() {
		_, err := sourceOf(b, e.transport(), podsGVR, o).List(context.Background(), ListOptions{}, func(object.Item[T]) error {
			objects++
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(objects), "ns/object")
}

func benchmarkWatch[T metav1.Object](b *testing.B, e recorded, o SourceOptions[T]) {
	body := bytes.Repeat(e.body, 20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	objects := 0
	for b.Loop() {
		stream, err := sourceOf(b, answer(200, nil, bytes.NewReader(body)), podsGVR, o).Watch(context.Background(), WatchOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := stream.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			objects++
		}
		stream.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(objects), "ns/object")
}
