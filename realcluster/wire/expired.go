package wire

import (
	"context"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expired records 410: it makes the server and etcd forget what the lists and
// watches before it saw.
func (s *session) expired(ctx context.Context) error {
	old, err := s.listMeta("pods-list-page1-json")
	if err != nil {
		return err
	}
	now, err := s.currentVersion(ctx)
	if err != nil {
		return err
	}
	if err := s.cluster.RestartAPIServer(ctx); err != nil {
		return err
	}
	if err := s.cluster.CompactTo(ctx, now); err != nil {
		return err
	}
	if err := s.waitForCaches(ctx); err != nil {
		return err
	}
	calls := both("pods-list-expired-continue", "410: the page's resourceVersion was compacted; metadata.continue goes on at a newer one",
		podsInA+"?limit=2&continue="+url.QueryEscape(old.Continue))
	calls = append(calls, both("pods-list-expired-exact", "410: that exact resourceVersion was compacted; nothing to continue with",
		podsPath+"?resourceVersionMatch=Exact&resourceVersion="+old.ResourceVersion)...)
	calls = append(calls, both("pods-watch-expired", "410 in the stream: the resourceVersion is older than the history; the status of the answer is 200",
		podsPath+"?watch=true&timeoutSeconds=5&resourceVersion="+old.ResourceVersion)...)
	calls = append(calls, call{name: "widgets-watch-expired", about: "the same for custom resources",
		path: widgetsPath + "?watch=true&timeoutSeconds=5&resourceVersion=" + old.ResourceVersion, accept: mediaJSON})
	if err := s.add(ctx, s.admin, calls...); err != nil {
		return err
	}
	fresh, err := s.continueToken("pods-list-expired-continue-json")
	if err != nil {
		return err
	}
	return s.add(ctx, s.admin, both("pods-list-inconsistent", "the rest of the list by the token of the 410: a newer resourceVersion than the first page's",
		podsInA+"?limit=2&continue="+url.QueryEscape(fresh))...)
}

// currentVersion returns the resourceVersion of the last write.
func (s *session) currentVersion(ctx context.Context) (string, error) {
	list, err := s.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", fmt.Errorf("read the current resourceVersion: %w", err)
	}
	return list.ResourceVersion, nil
}

// waitForCaches returns when the server's watch caches have filled after a restart.
// Until then it refuses: custom resources answer 429 for up to a second after the
// server calls itself ready. The client repeats such requests itself.
func (s *session) waitForCaches(ctx context.Context) error {
	fromCache := metav1.ListOptions{ResourceVersion: "0"}
	if _, err := s.kube.CoreV1().Pods("").List(ctx, fromCache); err != nil {
		return fmt.Errorf("wait for the cache of pods: %w", err)
	}
	if _, err := s.dynamic.Resource(WidgetResource()).List(ctx, fromCache); err != nil {
		return fmt.Errorf("wait for the cache of widgets: %w", err)
	}
	return nil
}
