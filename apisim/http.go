package apisim

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Handler returns the HTTP API.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	q := s.route(r)
	s.stats.count(q.op())
	w.Header().Set("Cache-Control", "no-cache, private")
	w = &countingWriter{ResponseWriter: w, sent: &s.stats.sent}
	if fault := s.chosenFault(r); fault != nil {
		fault(w, r, http.HandlerFunc(s.serveClean))
		return
	}
	s.serve(w, r, q)
}

// serveClean serves a request that has met its fault, which may have changed it.
func (s *Server) serveClean(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.route(r)) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, q request) {
	if q.table == nil {
		s.serveOther(w, r)
		return
	}
	switch q.verb {
	case "list", "watch", "watchlist":
		query, err := s.parseQuery(&q.table.res, r.URL.Query(), q.namespace)
		switch {
		case err != nil:
			writeError(w, r, err)
		case query.Watch:
			s.serveWatch(w, r, q.table, query)
		default:
			s.serveList(w, r, q.table, query)
		}
	case "get":
		s.serveGet(w, r, q)
	case "create":
		s.serveCreate(w, r, q)
	case "update":
		s.serveUpdate(w, r, q)
	case "patch":
		s.servePatch(w, r, q)
	case "delete":
		s.serveDelete(w, r, q)
	case "deletecollection":
		s.serveDeleteCollection(w, r, q)
	default:
		writeError(w, r, methodNotAllowed())
	}
}

// serveGet answers GET on one object. Without a resourceVersion it shows the
// store, with one what this server has heard of, not older than that.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request, q request) {
	version := r.URL.Query().Get("resourceVersion")
	rv, err := parseRV(version)
	if err != nil {
		writeError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	var cache *cache
	if version != "" && s.notReady() == nil {
		cache = s.cache
		if err := s.waitFor(r.Context(), q.table, rv); err != nil {
			writeError(w, r, err)
			return
		}
	}
	rev := s.store.read(q.table, objectKey(q.namespace, q.name), cache)
	if rev == nil {
		writeError(w, r, apierrors.NewNotFound(q.table.res.groupResource(), q.name))
		return
	}
	s.writeObject(w, r, http.StatusOK, rev)
}

// writeObject answers with one object.
func (s *Server) writeObject(w http.ResponseWriter, r *http.Request, code int, rev *revision) {
	res := rev.res
	enc, ok := negotiate(r.Header.Get("Accept"), res.offers, "PartialObjectMetadata")
	if !ok {
		writeError(w, r, notAcceptable(res.mediaTypes(false)))
		return
	}
	var b []byte
	var err error
	if enc == encTable {
		var form *tableForm
		if form, err = newTableForm(r, res); err == nil {
			b, err = form.one(&rev.body)
		}
	} else if b, err = rev.bytes(enc); err == nil {
		b = res.envelope(enc).append(nil, enc, b)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	if !enc.proto() {
		b = append(b, '\n')
	}
	w.Header().Set("Content-Type", mediaType(enc.proto(), false))
	w.WriteHeader(code)
	_, _ = w.Write(b) // the client may be gone
}

func methodNotAllowed() error {
	err := statusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

func notFoundPath() error {
	err := apierrors.NewNotFound(schema.GroupResource{}, "")
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}
