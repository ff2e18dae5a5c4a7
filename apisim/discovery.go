package apisim

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// apiGroup is a group with its versions, newest path first as registered.
type apiGroup struct {
	name     string
	versions []groupVersion
}

type groupVersion struct {
	name      string
	resources []metav1.APIResource
}

func discover(resources []Resource) []apiGroup {
	var groups []apiGroup
	for i := range resources {
		r := &resources[i]
		g := slices.IndexFunc(groups, func(g apiGroup) bool { return g.name == r.GVR.Group })
		if g < 0 {
			g = len(groups)
			groups = append(groups, apiGroup{name: r.GVR.Group})
		}
		v := slices.IndexFunc(groups[g].versions, func(v groupVersion) bool { return v.name == r.GVR.Version })
		if v < 0 {
			v = len(groups[g].versions)
			groups[g].versions = append(groups[g].versions, groupVersion{name: r.GVR.Version})
		}
		list := &groups[g].versions[v].resources
		*list = append(*list, metav1.APIResource{
			Name: r.GVR.Resource, SingularName: strings.ToLower(r.Kind), Namespaced: r.Namespaced,
			Kind: r.Kind, Verbs: r.verbs(), ShortNames: r.ShortNames,
		})
		if r.StatusSubresource {
			*list = append(*list, metav1.APIResource{
				Name: r.GVR.Resource + "/status", Namespaced: r.Namespaced, Kind: r.Kind,
				Verbs: metav1.Verbs{"get", "patch", "update"},
			})
		}
	}
	return groups
}

// serveOther answers what is not a resource: health, version and discovery.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	answer, found := s.other(strings.Trim(r.URL.Path, "/"))
	switch {
	case !found && s.knownVersion(r.URL.Path):
		writeError(w, r, notFoundPath())
	case !found:
		http.Error(w, "404 page not found", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		writeError(w, r, methodNotAllowed())
	case answer == nil && strings.Trim(r.URL.Path, "/") == "readyz":
		s.serveReady(w)
	case answer == nil:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok")) // the client may be gone
	default:
		b, err := marshalJSON(answer)
		if err != nil {
			writeError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", jsonMedia)
		_, _ = w.Write(b)
	}
}

// knownVersion reports a path below a built-in group and version, where the
// real server answers a miss with a Status; elsewhere it is plain text.
func (s *Server) knownVersion(path string) bool {
	path = strings.Trim(path, "/")
	for i := range s.resources {
		r := &s.resources[i]
		g := apiGroup{name: r.GVR.Group}
		if r.typed() && strings.HasPrefix(path, g.path(r.GVR.Version)+"/") {
			return true
		}
	}
	return false
}

// other returns the answer for a path, nil for a plain "ok".
func (s *Server) other(path string) (answer any, found bool) {
	switch path {
	case "healthz", "livez", "readyz":
		return nil, true
	case "version":
		return &version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2-apisim", GitTreeState: "clean"}, true
	case "api":
		return &metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
		}, true
	case "apis":
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
		for _, g := range s.groups {
			if g.name != "" {
				list.Groups = append(list.Groups, g.describe())
			}
		}
		return list, true
	}
	if answer, found := s.openAPI(path); found {
		return answer, true
	}
	for _, g := range s.groups {
		if g.name != "" && path == "apis/"+g.name {
			group := g.describe()
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return &group, true
		}
		for _, v := range g.versions {
			if path == g.path(v.name) {
				return &metav1.APIResourceList{
					TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
					GroupVersion: g.groupVersion(v.name), APIResources: v.resources,
				}, true
			}
		}
	}
	return nil, false
}

func (g *apiGroup) path(version string) string {
	if g.name == "" {
		return "api/" + version
	}
	return "apis/" + g.name + "/" + version
}

func (g *apiGroup) groupVersion(version string) string {
	if g.name == "" {
		return version
	}
	return g.name + "/" + version
}

func (g *apiGroup) describe() metav1.APIGroup {
	out := metav1.APIGroup{Name: g.name}
	for _, v := range g.versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.groupVersion(v.name), Version: v.name})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}
