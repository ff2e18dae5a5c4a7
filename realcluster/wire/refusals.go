package wire

import "context"

// farFuture is a resourceVersion that no recording reaches.
const farFuture = "9000000000000"

// refusals records refusals that need no preparation.
func (s *session) refusals(ctx context.Context) error {
	future := podsPath + "?resourceVersion=" + farFuture + "&resourceVersionMatch=NotOlderThan"
	calls := both("pods-list-too-large", "504: the resourceVersion is in the future; the server waited 3 s for it", future)
	calls = append(calls, both("pods-watchlist-too-large", "504 in the stream: the same on a watch-list; the status of the answer is 200",
		future+"&watch=true&allowWatchBookmarks=true&timeoutSeconds=6&sendInitialEvents=true")...)
	calls = append(calls, both("pod-get-missing", "404: no such object", podsInA+"/no-such-pod")...)
	calls = append(calls, both("pods-list-invalid", "422: resourceVersionMatch without resourceVersion", podsPath+"?resourceVersionMatch=Exact")...)
	calls = append(calls,
		call{name: "pods-list-bad-rv", about: "400: the resourceVersion is no number", path: podsPath + "?resourceVersion=abc", accept: mediaJSON},
		call{name: "pods-watch-bad-rv", about: "a watch from a resourceVersion that is no number", path: podsPath + "?watch=true&timeoutSeconds=1&resourceVersion=abc", accept: mediaJSON},
		call{name: "pods-list-bad-continue", about: "400: the continue token is not one", path: podsPath + "?limit=5&continue=abc", accept: mediaJSON},
		call{name: "pods-list-bad-selector", about: "400: pods cannot be selected by that field", path: podsPath + "?fieldSelector=spec.color%3Dred", accept: mediaJSON},
		call{name: "unknown-resource", about: "404: no such resource; not a Status", path: "/apis/" + widgetGroup + "/v1/gadgets", accept: mediaJSON},
		call{name: "not-listable", about: "405: the resource can only be created", path: "/apis/authentication.k8s.io/v1/tokenreviews", accept: mediaJSON},
		call{name: "widgets-list-protobuf", about: "406: custom resources have no protobuf", path: widgetsPath, accept: mediaProtobuf},
	)
	if err := s.add(ctx, s.admin, calls...); err != nil {
		return err
	}
	if err := s.add(ctx, s.nobody, both("pods-list-forbidden", "403: the user may not list pods", podsPath)...); err != nil {
		return err
	}
	calls = both("pods-list-unauthorized", "401: the token (made up) is not valid", podsPath)
	for i := range calls {
		calls[i].authorization = "Bearer made-up"
	}
	if err := s.add(ctx, s.unknown, calls...); err != nil {
		return err
	}
	return s.add(ctx, s.unknown, call{name: "pods-list-anonymous", about: "403: without credentials one is system:anonymous", path: podsPath, accept: mediaJSON})
}
