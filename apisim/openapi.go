package apisim

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The part of OpenAPI v3 that kubectl asks for before it creates or applies:
// whether the server itself checks fields (fieldValidation). There are no
// schemas, so "kubectl explain" has nothing to show.

type openAPIIndex struct {
	Paths map[string]openAPIRef `json:"paths"`
}

type openAPIRef struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

type openAPIDoc struct {
	OpenAPI string                 `json:"openapi"`
	Info    map[string]string      `json:"info"`
	Paths   map[string]openAPIPath `json:"paths"`
}

type openAPIPath struct {
	Patch openAPIOperation `json:"patch"`
}

type openAPIOperation struct {
	Parameters []openAPIParameter           `json:"parameters"`
	Responses  map[string]map[string]string `json:"responses"`
	Kind       metav1.GroupVersionKind      `json:"x-kubernetes-group-version-kind"`
}

type openAPIParameter struct {
	Name   string            `json:"name"`
	In     string            `json:"in"`
	Schema map[string]string `json:"schema"`
}

// openAPI answers a path below openapi/v3.
func (s *Server) openAPI(path string) (answer any, found bool) {
	if path == "openapi/v3" {
		index := openAPIIndex{Paths: make(map[string]openAPIRef)}
		for _, g := range s.groups {
			for _, v := range g.versions {
				p := g.path(v.name)
				index.Paths[p] = openAPIRef{ServerRelativeURL: "/openapi/v3/" + p}
			}
		}
		return index, true
	}
	version, ok := strings.CutPrefix(path, "openapi/v3/")
	if !ok {
		return nil, false
	}
	doc := openAPIDoc{OpenAPI: "3.0.0", Info: map[string]string{"title": "apisim", "version": "v1.37.2"}, Paths: make(map[string]openAPIPath)}
	for i := range s.resources {
		r := &s.resources[i]
		g := apiGroup{name: r.GVR.Group}
		if g.path(r.GVR.Version) != version {
			continue
		}
		at := "/" + version + "/"
		if r.Namespaced {
			at += "namespaces/{namespace}/"
		}
		gvk := r.GVK()
		doc.Paths[at+r.GVR.Resource+"/{name}"] = openAPIPath{Patch: openAPIOperation{
			Parameters: []openAPIParameter{{Name: "fieldValidation", In: "query", Schema: map[string]string{"type": "string"}}},
			Responses:  map[string]map[string]string{"200": {"description": "OK"}},
			Kind:       metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
		}}
	}
	return doc, len(doc.Paths) > 0
}
