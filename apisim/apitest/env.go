package apitest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	mediaJSON  = "application/json"
	mediaProto = "application/vnd.kubernetes.protobuf"
	partial    = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	partials   = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

	// watchList is the query of a watch that begins with the whole state.
	watchList = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

	// patience ends what hangs.
	patience = 30 * time.Second
	// slack is how late a busy machine may be.
	slack = 5 * time.Second
	// future is added to an RV to get one that won't be reached.
	future = 1_000_000
)

// env is what one clause works with: a server and a namespace of its own.
type env struct {
	*testing.T
	Server
	client *http.Client
	base   string
	ns     string
}

func newEnv(t *testing.T, s Server) *env {
	t.Helper()
	config := rest.CopyConfig(s.Config)
	config.DisableCompression = true // or the transport would unpack unasked
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, Server: s, client: client, base: strings.TrimSuffix(config.Host, "/")}
	if !strings.Contains(e.base, "://") {
		e.base = "http://" + e.base
	}
	e.ns = e.newNamespace("")
	return e
}

// newNamespace makes a namespace. Its name is that of the clause and a number,
// and ends with suffix.
func (e *env) newNamespace(suffix string) string {
	e.Helper()
	name := e.ns + suffix
	if suffix == "" {
		name = fmt.Sprintf("apitest-%x", time.Now().UnixNano())
	}
	a := e.do(http.MethodPost, "/api/v1/namespaces", map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	})
	if a.code == http.StatusConflict {
		return e.newNamespace(suffix) // another clause started in the same instant
	}
	a.want(e, http.StatusCreated)
	return name
}

// resource is a namespaced resource.
type resource struct {
	prefix, plural   string
	apiVersion, kind string
	content          string // the field that holds what is not metadata
}

func configMaps() resource { return resource{"/api/v1", "configmaps", "v1", "ConfigMap", "data"} }

func pods() resource { return resource{"/api/v1", "pods", "v1", "Pod", "spec"} }

func (e *env) custom() resource {
	return resource{"/apis/" + e.Custom.Group + "/" + e.Custom.Version, e.Custom.Resource,
		e.Custom.GroupVersion().String(), e.CustomKind, "spec"}
}

// in is the path of the resource's objects in a namespace, "" for all.
func (r resource) in(namespace string) string {
	if namespace == "" {
		return r.prefix + "/" + r.plural
	}
	return r.prefix + "/namespaces/" + namespace + "/" + r.plural
}

// path is the path of the configmaps in the clause's namespace.
func (e *env) path() string { return configMaps().in(e.ns) }

// object is the part of an object that clauses look at.
type object = metav1.PartialObjectMetadata

// put creates a configmap in the clause's namespace, with labels in pairs.
func (e *env) put(name string, labels ...string) object {
	e.Helper()
	return e.create(configMaps(), e.ns, name, nil, labels...)
}

func (e *env) create(r resource, namespace, name string, content map[string]any, labels ...string) object {
	e.Helper()
	meta := map[string]any{"name": name, "namespace": namespace}
	if len(labels) > 0 {
		meta["labels"] = pairs(labels)
	}
	body := map[string]any{"apiVersion": r.apiVersion, "kind": r.kind, "metadata": meta}
	if r.kind == "Pod" && content == nil {
		content = podSpec(nil)
	}
	if content != nil {
		body[r.content] = content
	}
	return e.do(http.MethodPost, r.in(namespace), body).want(e, http.StatusCreated).object(e)
}

func podSpec(more map[string]any) map[string]any {
	spec := map[string]any{"containers": []any{map[string]any{"name": "c", "image": "example.com/c:1"}}}
	for k, v := range more {
		spec[k] = v
	}
	return spec
}

func pairs(kv []string) map[string]any {
	m := make(map[string]any)
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

// label changes a label of a configmap of the clause's namespace.
func (e *env) label(name, key, value string) object {
	e.Helper()
	patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}
	return e.do(http.MethodPatch, e.path()+"/"+name, patch).want(e, http.StatusOK).object(e)
}

func (e *env) remove(name string) {
	e.Helper()
	e.do(http.MethodDelete, e.path()+"/"+name, nil).want(e, http.StatusOK)
}

// answer is a whole response.
type answer struct {
	code   int
	header http.Header
	body   []byte
	took   time.Duration
}

// do sends a write and reads the answer.
func (e *env) do(method, path string, body any, headers ...string) answer {
	e.Helper()
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			e.Fatal(err)
		}
		payload = bytes.NewReader(b)
		kind := mediaJSON
		if method == http.MethodPatch {
			kind = "application/merge-patch+json"
		}
		headers = append(headers, "Content-Type", kind)
	}
	start := time.Now()
	resp := e.send(method, path, payload, headers...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		e.Fatalf("%s %s: read the body: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, b, time.Since(start)}
}

// get reads path, which may have a query, to the end.
func (e *env) get(path string, headers ...string) answer {
	e.Helper()
	return e.do(http.MethodGet, path, nil, headers...)
}

func (e *env) send(method, path string, body io.Reader, headers ...string) *http.Response {
	e.Helper()
	req, err := http.NewRequestWithContext(e.Context(), method, e.base+path, body)
	if err != nil {
		e.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := e.client.Do(req)
	if err != nil {
		e.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

func (a answer) want(e *env, code int) answer {
	e.Helper()
	if a.code != code {
		e.Fatalf("answered %d, want %d: %.400s", a.code, code, a.body)
	}
	return a
}

func jsonMap(e *env, b []byte) map[string]any {
	e.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		e.Fatal(err)
	}
	return m
}

func (a answer) object(e *env) object {
	e.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		e.Fatalf("not an object: %v: %.400s", err, a.body)
	}
	return o
}

// list is the part of a list that clauses look at.
type list struct {
	Kind, APIVersion string
	Metadata         metav1.ListMeta
	Items            []object
}

func (a answer) list(e *env) list {
	e.Helper()
	a.want(e, http.StatusOK)
	var l list
	if err := json.Unmarshal(a.body, &l); err != nil {
		e.Fatalf("not a list: %v: %.400s", err, a.body)
	}
	return l
}

func (l list) names() string { return namesOf(l.Items) }

func namesOf(objects []object) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

// status checks that the answer is a failure's Status, whole and with its code.
func (a answer) status(e *env, code int) metav1.Status {
	e.Helper()
	a.want(e, code)
	var s metav1.Status
	if err := json.Unmarshal(a.body, &s); err != nil {
		e.Fatalf("not a Status: %v: %.400s", err, a.body)
	}
	if s.Kind != "Status" || s.APIVersion != "v1" || s.Status != metav1.StatusFailure || int(s.Code) != code {
		e.Errorf("Status is %+v, want a failure with code %d", s, code)
	}
	return s
}

// rv reads a resourceVersion, which must be a decimal number.
func (e *env) rv(s string) int64 {
	e.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		e.Fatalf("resourceVersion %q is no plain decimal number above zero", s)
	}
	return n
}

func rvOf(n int64) string { return strconv.FormatInt(n, 10) }

// now is the RV of the newest state of the clause's configmaps.
func (e *env) now() int64 {
	e.Helper()
	return e.rv(e.get(e.path() + "?limit=1").list(e).Metadata.ResourceVersion)
}

// lasted checks a duration: exact in virtual time, otherwise not less than want
// and not much more.
func (e *env) lasted(what string, got, want time.Duration) {
	e.Helper()
	if e.Virtual && got != want || got < want-50*time.Millisecond || got > want+slack {
		e.Errorf("%s took %v, want %v", what, got, want)
	}
}

// flagRun is the pattern that chooses tests.
func flagRun() string {
	if f := flag.Lookup("test.run"); f != nil {
		return f.Value.String()
	}
	return ""
}
