package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/compare/invariant"
	"informer.example/object"
	"informer.example/realcluster"
	"informer.example/realcluster/wire"
)

// history is what etcd had at each revision, read from etcd itself: a witness
// that neither the API server nor its end can disturb. One watch shows all keys,
// so that no revision is missing, whoever made it.
type history struct {
	of map[schema.GroupVersionResource]*invariant.History

	mu    sync.Mutex // guards what follows
	seen  string     // all revisions up to this one are recorded
	err   error      // why no more will be
	moved chan struct{}
}

// witness records until the test ends.
func witness(t *testing.T, cluster *realcluster.Cluster) *history {
	t.Helper()
	client, err := cluster.EtcdClient()
	if err != nil {
		t.Fatal(err)
	}
	h := &history{moved: make(chan struct{}), of: map[schema.GroupVersionResource]*invariant.History{
		podResource: invariant.NewHistory(), wire.WidgetResource(): invariant.NewHistory(),
	}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for resp := range client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(1)) {
			h.take(resp)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return h
}

// take records a response: all changes of the revisions that it holds.
func (h *history) take(resp clientv3.WatchResponse) {
	err := resp.Err()
	rv := ""
	for _, e := range resp.Events {
		rv = fmt.Sprint(e.Kv.ModRevision)
		if err == nil {
			err = h.record(e, rv)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && h.err == nil {
		h.err = fmt.Errorf("the history of etcd ends at revision %s: %w", h.seen, err)
	}
	if rv != "" {
		h.seen = rv
	}
	close(h.moved)
	h.moved = make(chan struct{})
}

func (h *history) record(e *clientv3.Event, rv string) error {
	for prefix, resource := range map[string]schema.GroupVersionResource{
		"/registry/pods/": podResource,
		"/registry/" + wire.WidgetResource().Group + "/" + wire.WidgetResource().Resource + "/": wire.WidgetResource(),
	} {
		rest, ok := strings.CutPrefix(string(e.Kv.Key), prefix)
		if !ok {
			continue
		}
		ns, name, _ := strings.Cut(rest, "/")
		key := object.Key{Namespace: ns, Name: name}
		if e.Type == clientv3.EventTypeDelete {
			h.of[resource].Delete(key, rv)
			return nil
		}
		uid, err := uidOf(e.Kv.Value)
		if err != nil {
			return fmt.Errorf("read %s: %w", e.Kv.Key, err)
		}
		h.of[resource].Set(key, uid, rv)
	}
	return nil
}

// uidOf reads an object as it is stored: protobuf in its envelope, or JSON.
func uidOf(stored []byte) (types.UID, error) {
	var o metav1.PartialObjectMetadata // every kind has its metadata in the same field
	raw, isProto := bytes.CutPrefix(stored, []byte("k8s\x00"))
	if !isProto {
		err := json.Unmarshal(stored, &o)
		return o.UID, err
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(raw); err != nil {
		return "", err
	}
	err := o.Unmarshal(envelope.Raw)
	return o.UID, err
}

// await returns once everything up to rv is recorded. A client may know of a
// write before its record is here.
func (h *history) await(ctx context.Context, rv string) error {
	for {
		h.mu.Lock()
		seen, err, moved := h.seen, h.err, h.moved
		h.mu.Unlock()
		switch {
		case err != nil:
			return err
		case rv == "" || seen != "" && !object.Newer(rv, seen):
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("the history of etcd is at revision %s, a store at %s: %w", seen, rv, ctx.Err())
		}
	}
}
