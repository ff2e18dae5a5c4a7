package apisim

import (
	"encoding/json"
	"mime"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// maxPatchOps is the real server's cap on the operations of a JSON patch.
const maxPatchOps = 10000

// servePatch answers PATCH with a JSON merge patch, a JSON patch or, for typed
// resources, a strategic merge patch. Server-side apply is refused: it needs
// schemas that this server does not have.
func (s *Server) servePatch(w http.ResponseWriter, r *http.Request, q request) {
	apply, err := q.readPatch(w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rev, err := s.change(q.table, q.namespace, q.name, q.origin(), func(cur *revision) (runtime.Object, error) {
		doc, err := cur.bytes(encJSON)
		if err != nil {
			return nil, err
		}
		doc = cur.res.envelope(encJSON).appendJSON(nil, doc)
		patched, err := apply(doc)
		if err != nil {
			return nil, err
		}
		next, err := s.codecs.decode(cur.res, jsonMedia, patched, strict(r))
		if err == nil && q.origin().status() {
			next = cur.res.withStatusOf(cur.obj, next)
		}
		return next, err
	})
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeObject(w, r, http.StatusOK, rev)
}

// readPatch returns the patch as a function on a document.
func (q *request) readPatch(w http.ResponseWriter, r *http.Request) (func([]byte) ([]byte, error), error) {
	res := &q.table.res
	kinds := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if res.typed() {
		kinds = append(kinds, string(types.StrategicMergePatchType))
	}
	if r.URL.Query().Has("dryRun") {
		return nil, apierrors.NewBadRequest("dryRun is not supported by this server")
	}
	data, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind := types.PatchType(media); {
	case err != nil:
		return nil, unsupportedMedia(kinds)
	case kind == types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(data)
		if err != nil {
			return nil, apierrors.NewBadRequest("JSON patch: " + err.Error())
		}
		if len(patch) > maxPatchOps {
			return nil, apierrors.NewRequestEntityTooLargeError("too many operations in a JSON patch")
		}
		return func(doc []byte) ([]byte, error) {
			doc, err := patch.Apply(doc)
			if err != nil {
				return nil, statusError(http.StatusUnprocessableEntity, "Invalid", "JSON patch: "+err.Error())
			}
			return doc, nil
		}, nil
	case kind == types.MergePatchType:
		return mergeWith(data, "merge patch", func(doc []byte) ([]byte, error) {
			return jsonpatch.MergePatch(doc, data)
		})
	case kind == types.StrategicMergePatchType && res.typed():
		return mergeWith(data, "strategic merge patch", func(doc []byte) ([]byte, error) {
			return strategicpatch.StrategicMergePatch(doc, data, res.Prototype)
		})
	}
	return nil, unsupportedMedia(kinds)
}

// mergeWith checks that a merge patch is a JSON object before it is used.
func mergeWith(data []byte, what string, merge func([]byte) ([]byte, error)) (func([]byte) ([]byte, error), error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, apierrors.NewBadRequest(what + ": " + err.Error())
	}
	return func(doc []byte) ([]byte, error) {
		doc, err := merge(doc)
		if err != nil {
			return nil, apierrors.NewBadRequest(what + ": " + err.Error())
		}
		return doc, nil
	}, nil
}
