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
	if q.shard != nil && t.res.typed() && !enc.partial() {
		meta.ShardInfo = &metav1.ShardInfo{Selector: q.shard.String()}
	}
	s.writeList(w, r, &t.res, enc, meta, p.items)
}

// list applies the rules that say which RV a list shows (L1 to L4 in doc.go).
func (s *Server) list(ctx context.Context, t *table, q listQuery) (page, error) {
	scan := scanRequest{selector: q.selector}
	if q.Limit > 0 {
		scan.limit = int(min(q.Limit, 1<<30))
	}
	consistent := q.ResourceVersion == ""
	var expired error
	if q.Continue != "" {
		token, err := decodeToken(q.Continue)
		switch {
		case err != nil:
			return page{}, apierrors.NewBadRequest("invalid continue token: " + err.Error())
		case q.ResourceVersion != "" && q.ResourceVersion != "0":
			return page{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		scan.start = token.startKey(q.namespace)
		if consistent = token.RV == newestRV; !consistent {
			scan.at, expired = uint64(token.RV), expiredToken(token)
		}
	}
	rv, err := parseRV(q.ResourceVersion)
	if err != nil {
		return page{}, apierrors.NewBadRequest(err.Error())
	}
	if q.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		q.ResourceVersionMatch == "" && scan.limit > 0 && rv > 0 {
		scan.at, expired = rv, expiredList()
	}

	fromStore := t.res.Uncached
	if err := s.notReady(); err != nil && !fromStore {
		if scan.limit == 0 || !q.unfiltered() {
			return page{}, err
		}
		fromStore = true
	}
	switch {
	case fromStore:
		if want := max(rv, scan.at); want > s.store.current() {
			return page{}, tooLarge(want, s.store.current(), 0)
		}
	case scan.at > 0:
		// A state that the cache has not reached is waited for there, even if the
		// store has it.
		err = s.waitFor(ctx, t, scan.at)
	case consistent:
		// A cache that doesn't get there in time is passed over.
		if s.waitFor(ctx, t, s.store.current()) == nil {
			scan.cache = s.cache
		} else {
			err = ctx.Err()
		}
	default:
		if q.ResourceVersion == "0" {
			scan.limit = 0
		}
		scan.cache, err = s.cache, s.waitFor(ctx, t, rv)
	}
	if err != nil {
		return page{}, err
	}
	p := s.store.scan(t, scan)
	if p.expired {
		return page{}, expired
	}
	return p, nil
}

// waitFor waits until this server has heard of the RV.
func (s *Server) waitFor(ctx context.Context, t *table, rv uint64) error {
	if t.res.Uncached {
		if now := s.store.current(); rv > now {
			return tooLarge(rv, now, 0)
		}
		return nil
	}
	if s.cache.waitFor(ctx, rv, freshnessLimit) {
		return nil
	}
	return tooLarge(rv, s.cache.current(), 1)
}
