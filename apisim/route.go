package apisim

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is a URL and method, understood.
type request struct {
	table       *table // nil: not a resource
	verb        string // "" if the method does not fit the path
	namespace   string
	name        string
	subresource string
}

func routeKey(gvr schema.GroupVersionResource) string {
	return gvr.Group + "/" + gvr.Version + "/" + gvr.Resource
}

// route finds the resource that a request is about:
//
//	/api/v1/[namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]
//	/apis/GROUP/VERSION/[namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]
func (s *Server) route(r *http.Request) request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var gvr schema.GroupVersionResource
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		gvr.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		gvr.Group, gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return request{}
	}
	var q request
	// namespaces/NS/status is the namespace's own subresource.
	if parts[0] == "namespaces" && len(parts) >= 3 && parts[2] != "status" {
		q.namespace, parts = parts[1], parts[2:]
	}
	gvr.Resource = parts[0]
	t := s.routes[routeKey(gvr)]
	if t == nil || len(parts) > 3 || q.namespace != "" && !t.res.Namespaced {
		return request{}
	}
	if len(parts) > 1 {
		q.name = parts[1]
	}
	if len(parts) > 2 {
		q.subresource = parts[2]
		if q.subresource != "status" || !t.res.StatusSubresource {
			return request{}
		}
	}
	if q.name != "" && q.namespace == "" && t.res.Namespaced {
		return request{}
	}
	q.table = t
	q.verb = q.verbOf(r)
	return q
}

func (q *request) verbOf(r *http.Request) string {
	if q.name == "" {
		switch r.Method {
		case http.MethodGet:
			switch query := r.URL.Query(); {
			case query.Get("watch") == "" || query.Get("watch") == "false" || query.Get("watch") == "0":
				return "list"
			case query.Get("sendInitialEvents") == "true":
				return "watchlist"
			}
			return "watch"
		case http.MethodPost:
			return "create"
		case http.MethodDelete:
			return "deletecollection"
		}
		return ""
	}
	switch r.Method {
	case http.MethodGet:
		return "get"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if q.subresource == "" {
			return "delete"
		}
	}
	return ""
}

func (q *request) op() Op {
	if q.table == nil {
		return Op{}
	}
	return Op{Verb: q.verb, Resource: q.table.res.groupResource().String()}
}
