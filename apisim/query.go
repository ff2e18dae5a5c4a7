package apisim

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listQuery is a decoded and checked query string of a list or a watch.
type listQuery struct {
	internalversion.ListOptions
	selector
}

// parseQuery decodes the query of a list or watch of the resource. It applies
// the real server's defaults and rules, which apimachinery exports: 400 for
// what cannot be read, 422 for combinations that make no sense. The RV is left
// to the caller, since a list and a watch refuse a bad one differently.
func (s *Server) parseQuery(r *Resource, q url.Values, namespace string) (listQuery, error) {
	var out listQuery
	if err := listscheme.ParameterCodec.DecodeParameters(q, metav1.SchemeGroupVersion, &out.ListOptions); err != nil {
		return out, apierrors.NewBadRequest(err.Error())
	}
	internalversion.SetListOptionsDefaults(&out.ListOptions, true)
	if errs := validation.ValidateListOptions(&out.ListOptions, true); len(errs) > 0 {
		return out, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	if err := r.checkFields(out.FieldSelector); err != nil {
		return out, err
	}
	out.selector = selector{namespace: namespace, label: out.LabelSelector, field: out.FieldSelector}
	if s.sharding && out.ShardSelector != "" {
		sel, err := parseShardSelector(out.ShardSelector)
		if err != nil {
			// The real server has no code for it, so it is a failure of its own.
			return out, statusError(http.StatusInternalServerError, "", err.Error())
		}
		out.shard = sel
	}
	return out, nil
}

func (r *Resource) checkFields(s fields.Selector) error {
	if s == nil || s.Empty() {
		return nil
	}
	names := r.fieldNames()
	for _, req := range s.Requirements() {
		if !slices.Contains(names, req.Field) {
			return apierrors.NewBadRequest("field label not supported: " + req.Field)
		}
	}
	return nil
}

// initialEvents reports that the watch starts with the whole state.
func (q *listQuery) initialEvents() bool { return q.SendInitialEvents != nil && *q.SendInitialEvents }

// watchList reports that the initial state ends with a marker.
func (q *listQuery) watchList() bool { return q.initialEvents() && q.AllowWatchBookmarks }

// parseRV reads a resourceVersion; "" and "0" are 0.
func parseRV(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	rv, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid resource version %q: not a decimal number", s)
	}
	return rv, nil
}
