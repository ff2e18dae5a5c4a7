package informer

import (
	"fmt"
	"path"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtinRoot is where the Go types of the built-in resources live. Below it
// the path is group/version, and the type's name is the kind.
const builtinRoot = "k8s.io/api"

// resourceOf finds the resource that a built-in type T stands for.
func resourceOf[T metav1.Object]() (schema.GroupVersionResource, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer {
		return schema.GroupVersionResource{}, unknownResource(t)
	}
	dir, version := path.Split(t.Elem().PkgPath())
	root, group := path.Split(strings.TrimSuffix(dir, "/"))
	if strings.TrimSuffix(root, "/") != builtinRoot {
		return schema.GroupVersionResource{}, unknownResource(t)
	}
	kind := schema.GroupVersionKind{Group: groupName(group), Version: version, Kind: t.Elem().Name()}
	// The guess is the API's own convention; every built-in kind follows it.
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural, nil
}

// groupName maps a folder of k8s.io/api to the name of its API group.
func groupName(folder string) string {
	switch folder {
	case "core":
		return ""
	case "apps", "autoscaling", "batch", "extensions", "policy":
		return folder
	case "apiserverinternal":
		return "internal.apiserver.k8s.io"
	case "flowcontrol":
		return "flowcontrol.apiserver.k8s.io"
	case "rbac":
		return "rbac.authorization.k8s.io"
	}
	return folder + ".k8s.io"
}

func unknownResource(t reflect.Type) error {
	return fmt.Errorf("informer: no resource is known for %v: it is not a pointer to a type of %s; name the resource with ForResource", t, builtinRoot)
}

// clusterScoped reports whether a built-in resource has no namespaces, so that
// a factory's namespace does not apply to it. Of other resources nothing is
// known here.
func clusterScoped(r schema.GroupVersionResource) bool {
	switch r.Group {
	case "":
		switch r.Resource {
		case "nodes", "namespaces", "persistentvolumes", "componentstatuses":
			return true
		}
	case "rbac.authorization.k8s.io":
		return strings.HasPrefix(r.Resource, "cluster")
	case "storage.k8s.io":
		return r.Resource != "csistoragecapacities"
	case "resource.k8s.io":
		return !strings.HasPrefix(r.Resource, "resourceclaim")
	case "networking.k8s.io":
		switch r.Resource {
		case "ingressclasses", "ipaddresses", "servicecidrs":
			return true
		}
	case "certificates.k8s.io":
		return r.Resource != "podcertificaterequests"
	case "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io",
		"node.k8s.io", "storagemigration.k8s.io":
		return true
	case "scheduling.k8s.io":
		return r.Resource == "priorityclasses"
	}
	return false
}
