package realcluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcdHandle makes the client on first use.
type etcdHandle struct {
	client *clientv3.Client
}

func (h *etcdHandle) close() error {
	if h.client == nil {
		return nil
	}
	return h.client.Close()
}

// EtcdClient returns a client of the cluster's etcd, where the API server keeps
// its objects under /registry. The cluster owns it: do not close it.
func (c *Cluster) EtcdClient() (*clientv3.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, ErrStopped
	}
	if c.etcd.client != nil {
		return c.etcd.client, nil
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{c.env.ControlPlane.Etcd.URL.String()},
		DialTimeout: 10 * time.Second,
		Logger:      zap.NewNop(), // it would print to standard error
	})
	if err != nil {
		return nil, fmt.Errorf("make a client of etcd: %w", err)
	}
	c.etcd.client = client
	return client, nil
}

// CompactTo makes etcd forget what was superseded before resourceVersion rv.
// That etcd was compacted there or later already is no error.
//
// The API server may go on answering for older resourceVersions from its watch
// cache. RestartAPIServer makes it forget them too.
func (c *Cluster) CompactTo(ctx context.Context, rv string) error {
	revision, err := strconv.ParseInt(rv, 10, 64)
	if err != nil || revision <= 0 {
		return fmt.Errorf("compact etcd: %q is not a resourceVersion", rv)
	}
	client, err := c.EtcdClient()
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact etcd to revision %d: %w", revision, err)
	}
	return nil
}
