package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// resolve finds out which resource is meant, and asks the server only if it
// must.
func (n resourceName) resolve(ctx context.Context, cfg *rest.Config) (kind, error) {
	if k, ok := n.known(); ok {
		return k, nil
	}
	if n.complete() {
		return custom(n.gvr(), true), nil
	}
	lists, err := discover(ctx, cfg)
	if err != nil && len(lists) == 0 {
		return kind{}, fmt.Errorf("ask the server what %q is: %w", n.resource, err)
	}
	var found []kind
	var names []string
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue // not ours to mend
		}
		for _, r := range list.APIResources {
			gvr := gv.WithResource(r.Name)
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "watch") {
				continue
			}
			names = append(names, fullName(gvr))
			if n.matches(gvr) {
				found = append(found, custom(gvr, r.Namespaced))
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(names)
		return kind{}, fmt.Errorf("the server has no resource %q that can be watched; give the plural name; it has %s", n.resource, someOf(names))
	}
	var choices []string
	for _, k := range found {
		choices = append(choices, fullName(k.gvr))
	}
	return kind{}, fmt.Errorf("resource %q is ambiguous; name one of %s", n.resource, strings.Join(choices, ", "))
}

// discover lists what the server has, in each group's preferred version. It may
// return some together with an error.
func discover(ctx context.Context, cfg *rest.Config) ([]*metav1.APIResourceList, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = 10 * time.Second
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	type answer struct {
		lists []*metav1.APIResourceList
		err   error
	}
	done := make(chan answer, 1) // the client takes no context; it ends by its timeout
	go func() {
		lists, err := client.ServerPreferredResources()
		done <- answer{lists, err}
	}()
	select {
	case a := <-done:
		var partly *discovery.ErrGroupDiscoveryFailed
		if errors.As(a.err, &partly) {
			return a.lists, nil
		}
		return a.lists, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func fullName(gvr schema.GroupVersionResource) string {
	if gvr.Group == "" {
		return gvr.Resource
	}
	return gvr.Resource + "." + gvr.Version + "." + gvr.Group
}

// someOf keeps an error to one line.
func someOf(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
