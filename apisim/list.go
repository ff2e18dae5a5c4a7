package apisim

import (
	"context"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// freshnessLimit is how long a request for a future RV waits for it.
const freshnessLimit = 3 * time.Second

// serveList answers GET on a collection.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request, t *table, q listQuery) {
	enc, ok := negotiate(r.Header.Get("Accept"), t.res.offers, "PartialObjectMetadataList")
	if !ok {
		writeError(w, r, notAcceptable(t.res.mediaTypes(false)))
		return
	}
	p, err := s.list(r.Context(), t, q)
	if err != nil {
		writeError(w, r, err)
		return
	}
	meta := metav1.ListMeta{ResourceVersion: formatRV(p.rv)}
	if p.more {
		last := p.items[len(p.items)-1].key
		meta.Continue = tokenAfter(last, q.namespace, int64(p.rv)).encode()
		if q.unfiltered() {
			meta.RemainingItemCount = &p.remaining
		}
	}
	s.writeList(w, r, &t.res, enc, meta, p.items)
}

// list applies the rules that say which RV a list shows (L1 to L4 in doc.go).
func (s *Server) list(ctx context.Context, t *table, q listQuery) (page, error) {
	scan := scanRequest{selector: q.selector}
	if q.Limit > 0 && q.ResourceVersion != "0" {
		scan.limit = int(min(q.Limit, 1<<30))
	}
	if q.Continue != "" {
		token, err := decodeToken(q.Continue)
		switch {
		case err != nil:
			return page{}, apierrors.NewBadRequest("invalid continue token: " + err.Error())
		case q.ResourceVersion != "" && q.ResourceVersion != "0":
			return page{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		scan.start = token.startKey(q.namespace)
		if token.RV != newestRV {
			scan.at = uint64(token.RV)
		}
		p, err := s.scanAt(ctx, t, scan)
		if err == nil && p.expired {
			err = expiredToken(token)
		}
		return p, err
	}

	rv, err := parseRV(q.ResourceVersion)
	if err != nil {
		return page{}, apierrors.NewBadRequest(err.Error())
	}
	exact := q.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		q.ResourceVersionMatch == "" && scan.limit > 0 && rv > 0
	if !exact {
		if err := s.waitFor(ctx, rv); err != nil {
			return page{}, err
		}
		return s.store.scan(t, scan), nil
	}
	scan.at = rv
	p, err := s.scanAt(ctx, t, scan)
	if err == nil && p.expired {
		err = expiredList()
	}
	return p, err
}

// scanAt waits for scan.at, if that is in the future, and reads.
func (s *Server) scanAt(ctx context.Context, t *table, scan scanRequest) (page, error) {
	if err := s.waitFor(ctx, scan.at); err != nil {
		return page{}, err
	}
	return s.store.scan(t, scan), nil
}

func (s *Server) waitFor(ctx context.Context, rv uint64) error {
	if s.store.waitFor(ctx, rv, freshnessLimit) {
		return nil
	}
	return tooLarge(rv, s.store.current())
}
