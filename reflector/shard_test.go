package reflector

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
)

func TestS1_Selector(t *testing.T) {
	for shard, want := range map[Shard]string{
		{}:     "",
		{0, 1}: "",
		{0, 2}: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
		{1, 2}: "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
		{1, 3}: "shardRange(object.metadata.uid, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')",
	} {
		if got := shard.selector(); got != want {
			t.Errorf("%v: %s, want %s", shard, got, want)
		}
	}
	for _, bad := range []Shard{{0, -1}, {-1, 2}, {2, 2}, {1, 0}} {
		if _, err := NewHTTPSource(apisim.New().Config(), podsGVR, SourceOptions[*corev1.Pod]{Shard: bad}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// TestS2_ShardsPartition: each object is in exactly one shard, whether or not
// the server selects, in both encodings, in lists, watch-lists and watches.
func TestS2_ShardsPartition(t *testing.T) {
	for name, opts := range map[string][]apisim.Option{"ignored": nil, "selecting": {apisim.WithSharding()}} {
		for _, enc := range []Encoding{EncodingJSON, EncodingProtobuf} {
			for _, mode := range []WatchListMode{WatchListAuto, WatchListNever} {
				t.Run(fmt.Sprint(name, enc, mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := apisim.New(opts...)
						for i := range 30 {
							must(s.Create(podsGVR, pod(fmt.Sprintf("p%02d", i))))
						}
						const count = 3
						var all []*running[*corev1.Pod]
						for i := range count {
							all = append(all, start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc, Shard: Shard{i, count}}, Options{WatchList: mode}))
						}
						for i := range 30 {
							must(s.Create(podsGVR, pod(fmt.Sprintf("q%02d", i))))
						}
						must(s.Delete(podsGVR, "default", "p07"))
						time.Sleep(3 * time.Minute)
						synctest.Wait()
						seen := map[string]int{}
						for i, r := range all {
							keys := r.sink.keys()
							if len(keys) == 0 || len(keys) == 59 {
								t.Errorf("shard %d has %d objects", i, len(keys))
							}
							for _, key := range keys {
								seen[key]++
							}
							r.end()
						}
						for key, n := range seen {
							if n != 1 {
								t.Errorf("%s is in %d shards", key, n)
							}
						}
						if len(seen) != 59 {
							t.Errorf("%d objects in all shards", len(seen))
						}
					})
				})
			}
		}
	}
}
