package apisim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxBody is the real server's cap on a request body.
const maxBody = 3 << 20

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("read the request body: " + err.Error())
	}
	return b, nil
}

// readObject decodes the object in the body of a create or update.
func (s *Server) readObject(w http.ResponseWriter, r *http.Request, q request) (runtime.Object, error) {
	if r.URL.Query().Has("dryRun") {
		return nil, apierrors.NewBadRequest("dryRun is not supported by this server")
	}
	data, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	res := &q.table.res
	media := jsonMedia
	if ct := r.Header.Get("Content-Type"); ct != "" {
		if media, _, err = mime.ParseMediaType(ct); err != nil {
			return nil, unsupportedMedia(res.mediaTypes(false))
		}
	}
	obj, err := s.codecs.decode(res, media, data, strict(r))
	if err != nil {
		return nil, err
	}
	m := obj.(metav1.Object)
	if res.Namespaced {
		switch ns := m.GetNamespace(); {
		case q.namespace == "":
			return nil, apierrors.NewBadRequest("an object of a namespaced resource is written to a path with its namespace")
		case ns == "":
			m.SetNamespace(q.namespace)
		case ns != q.namespace:
			return nil, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
		}
	}
	return obj, nil
}

// strict reports that the client wants unknown and repeated fields refused.
// Without it they are dropped in silence, and so they are with Warn.
func strict(r *http.Request) bool {
	return r.URL.Query().Get("fieldValidation") == metav1.FieldValidationStrict
}

// decode reads an object of the resource. Bad bytes are a bad request. A custom
// resource has no schema, so it has no unknown fields.
func (c *codecs) decode(res *Resource, media string, data []byte, strict bool) (runtime.Object, error) {
	gvk := res.GVK()
	if !res.typed() {
		if media != jsonMedia {
			return nil, unsupportedMedia(res.mediaTypes(false))
		}
		obj, got, err := unstructured.UnstructuredJSONScheme.Decode(data, &gvk, &unstructured.Unstructured{})
		switch {
		case err != nil:
			return nil, apierrors.NewBadRequest(err.Error())
		case *got != gvk:
			return nil, wrongKind(*got, gvk)
		}
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return nil, apierrors.NewBadRequest("the body is a list, not an object")
		}
		return u, nil
	}
	info, ok := runtime.SerializerInfoForMediaType(c.factory.SupportedMediaTypes(), media)
	if !ok || media != jsonMedia && media != protoMedia && media != yamlMedia {
		return nil, unsupportedMedia(append(res.mediaTypes(false), yamlMedia))
	}
	decoder := info.Serializer
	if strict && info.StrictSerializer != nil {
		decoder = info.StrictSerializer
	}
	obj, got, err := decoder.Decode(data, &gvk, res.newObject())
	switch {
	case runtime.IsStrictDecodingError(err):
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", res.Kind, res.GVR.Version, res.Kind, err))
	case err != nil:
		return nil, apierrors.NewBadRequest(err.Error())
	case *got != gvk:
		return nil, wrongKind(*got, gvk)
	}
	obj, err = res.normalize(obj)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj, nil
}

func wrongKind(got, want fmt.Stringer) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the body holds %s, the path is for %s", got, want))
}

func (s *Server) serveCreate(w http.ResponseWriter, r *http.Request, q request) {
	obj, err := s.readObject(w, r, q)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rev, err := s.create(q.table, obj, byHTTP)
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeObject(w, r, http.StatusCreated, rev)
}

func (s *Server) serveUpdate(w http.ResponseWriter, r *http.Request, q request) {
	obj, err := s.readObject(w, r, q)
	if err != nil {
		writeError(w, r, err)
		return
	}
	if name := obj.(metav1.Object).GetName(); name != q.name {
		writeError(w, r, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, q.name)))
		return
	}
	rev, err := s.update(q.table, q.namespace, q.name, obj, q.origin())
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeObject(w, r, http.StatusOK, rev)
}

func (q *request) origin() origin {
	if q.subresource == "status" {
		return byHTTPStatus
	}
	return byHTTP
}

// deleteOptions reads the optional body of a delete.
func (s *Server) deleteOptions(w http.ResponseWriter, r *http.Request) (preconditions, error) {
	var pre preconditions
	if r.URL.Query().Has("dryRun") {
		return pre, apierrors.NewBadRequest("dryRun is not supported by this server")
	}
	data, err := readBody(w, r)
	if err != nil || len(data) == 0 {
		return pre, err
	}
	var opts metav1.DeleteOptions
	var unknown runtime.Unknown
	if len(data) > len(protoMagic) && string(data[:len(protoMagic)]) == protoMagic {
		if err = unknown.Unmarshal(data[len(protoMagic):]); err == nil {
			err = opts.Unmarshal(unknown.Raw)
		}
	} else {
		err = json.Unmarshal(data, &opts)
	}
	if err != nil {
		return pre, apierrors.NewBadRequest("delete options: " + err.Error())
	}
	if len(opts.DryRun) > 0 {
		return pre, apierrors.NewBadRequest("dryRun is not supported by this server")
	}
	if p := opts.Preconditions; p != nil {
		if p.UID != nil {
			pre.uid = *p.UID
		}
		if p.ResourceVersion != nil {
			pre.rv = *p.ResourceVersion
		}
	}
	return pre, nil
}

// serveDelete answers with the object if it is still there, held by
// finalizers, and with a Status otherwise.
func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request, q request) {
	pre, err := s.deleteOptions(w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rev, err := s.remove(q.table, q.namespace, q.name, pre)
	switch {
	case err != nil:
		writeError(w, r, err)
	case !rev.deleted || q.table.res.Kind == "Pod":
		s.writeObject(w, r, http.StatusOK, rev)
	default:
		gr := q.table.res.groupResource()
		writeStatus(w, r, &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusSuccess, Code: http.StatusOK,
			Details: &metav1.StatusDetails{Name: q.name, Group: gr.Group, Kind: gr.Resource, UID: rev.meta().GetUID()},
		})
	}
}

// serveDeleteCollection deletes what a list with the same query shows, and
// answers with the list of it.
func (s *Server) serveDeleteCollection(w http.ResponseWriter, r *http.Request, q request) {
	query, err := s.parseQuery(&q.table.res, r.URL.Query(), q.namespace)
	if err != nil {
		writeError(w, r, err)
		return
	}
	pre, err := s.deleteOptions(w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	p, err := s.list(r.Context(), q.table, query)
	if err != nil {
		writeError(w, r, err)
		return
	}
	for _, rev := range p.items {
		ns, name := splitKey(rev.key)
		if _, err := s.remove(q.table, ns, name, pre); err != nil && !apierrors.IsNotFound(err) {
			writeError(w, r, err)
			return
		}
	}
	enc, ok := negotiate(r.Header.Get("Accept"), q.table.res.offers, "PartialObjectMetadataList")
	if !ok {
		writeError(w, r, notAcceptable(q.table.res.mediaTypes(false)))
		return
	}
	s.writeList(w, r, &q.table.res, enc, metav1.ListMeta{ResourceVersion: formatRV(s.store.current())}, p.items)
}
