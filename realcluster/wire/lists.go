package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

const (
	podsPath    = "/api/v1/pods"
	podsInA     = "/api/v1/namespaces/a/pods"
	emptyPath   = "/api/v1/namespaces/" + emptyNamespace + "/pods"
	widgetsPath = "/apis/" + widgetGroup + "/v1/namespaces/shop/widgets"
	metaList    = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	metaOne     = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

// both makes the call once in JSON and once in protobuf.
func both(name, about, path string) []call {
	return []call{
		{name: name + "-json", about: about, path: path, accept: mediaJSON},
		{name: name + "-protobuf", about: about, path: path, accept: mediaProtobuf},
	}
}

// lists records whole lists, pages and single objects.
func (s *session) lists(ctx context.Context) error {
	calls := both("pods-list", "all pods; \"a-b/…\" sorts before \"a/…\"", podsPath)
	for _, c := range both("pods-list-gzip", "the same, compressed: the server does so above 128 KiB", podsPath) {
		c.gzip = true
		calls = append(calls, c)
	}
	calls = append(calls, both("pods-list-empty", "a list without items", emptyPath)...)
	calls = append(calls, both("pods-list-page1", "the first page, with a continue token", podsInA+"?limit=2")...)
	calls = append(calls,
		call{name: "pods-metadata-list-json", about: "metadata alone; each item has kind and apiVersion", path: podsInA, accept: mediaJSON + metaList},
		call{name: "pods-metadata-list-protobuf", about: "metadata alone", path: podsInA, accept: mediaProtobuf + metaList},
		call{name: "widgets-list-json", about: "custom resources: keys are sorted, so metadata comes after the items", path: widgetsPath, accept: mediaJSON},
		call{name: "widgets-list-either", about: "protobuf preferred, JSON accepted: custom resources have no protobuf", path: widgetsPath, accept: mediaProtobuf + "," + mediaJSON},
		call{name: "widgets-metadata-list-protobuf", about: "metadata of custom resources does have protobuf", path: widgetsPath, accept: mediaProtobuf + metaList},
	)
	calls = append(calls, both("pod-get", "a single object, which has kind and apiVersion", podsInA+"/"+podName(3))...)
	if err := s.add(ctx, s.admin, calls...); err != nil {
		return err
	}
	for page := 2; page <= 3; page++ {
		token, err := s.continueToken(fmt.Sprintf("pods-list-page%d-json", page-1))
		if err != nil {
			return err
		}
		about := "the next page, at the same resourceVersion"
		if page == 3 {
			about = "the last page, without a continue token"
		}
		path := podsInA + "?limit=2&continue=" + url.QueryEscape(token)
		if err := s.add(ctx, s.admin, both(fmt.Sprintf("pods-list-page%d", page), about, path)...); err != nil {
			return err
		}
	}
	return nil
}

// continueToken returns the token in the named JSON answer.
func (s *session) continueToken(name string) (string, error) {
	meta, err := s.listMeta(name)
	if err == nil && meta.Continue == "" {
		err = fmt.Errorf("record: %s has no continue token", name)
	}
	return meta.Continue, err
}

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// listMeta returns the metadata in the named JSON answer, a list or a Status.
func (s *session) listMeta(name string) (listMeta, error) {
	e, err := s.find(name)
	if err != nil {
		return listMeta{}, err
	}
	var list struct {
		Metadata listMeta `json:"metadata"`
	}
	if err := json.Unmarshal(e.Body, &list); err != nil {
		return listMeta{}, fmt.Errorf("record: read the metadata of %s: %w", name, err)
	}
	return list.Metadata, nil
}
