package apisim

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func FuzzContinueToken(f *testing.F) {
	f.Add(tokenAfter("a/p1", "", 103).encode())
	f.Add(tokenAfter("a/p1", "a", newestRV).encode())
	for _, s := range []string{"", "x", "bnVsbA", "e30", strings.Repeat("A", maxToken+1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		token, err := decodeToken(s)
		if err != nil {
			return
		}
		if token.RV == 0 || token.RV < newestRV || token.Start == "" {
			t.Errorf("%q gives %+v", s, token)
		}
		again, err := decodeToken(token.encode())
		if err != nil || again != token {
			t.Errorf("%+v comes back as %+v, %v", token, again, err)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"", "watch=1&timeoutSeconds=-9223372036854775808", "limit=9223372036854775807&resourceVersion=0", watchListQuery,
		"fieldSelector=a%3D%5C", "labelSelector=a+in+(b,c),!d", "resourceVersionMatch=Exact&resourceVersion=1", "a=1&a=2;%zz",
	} {
		f.Add(q)
	}
	res := Pods()
	s := New(WithSharding())
	f.Fuzz(func(t *testing.T, raw string) {
		values, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		q, err := s.parseQuery(&res, values, "a")
		if err != nil {
			badShard := values.Get("shardSelector") != "" && apierrors.ReasonForError(err) == ""
			if !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) && !badShard {
				t.Errorf("%q: %v is neither 400 nor 422", raw, err)
			}
			return
		}
		rev := newRevision(&res, "a/p", pod("a", "p"))
		_ = q.matches(rev)
		if q.watchList() && !q.initialEvents() {
			t.Errorf("%q: a marker without a state", raw)
		}
	})
}

// FuzzRequest sends anything as a request. There is always an answer with a
// sensible status, and the server still works afterwards.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/api/v1/pods", "limit=1", "", "", "")
	f.Add("GET", "/api/v1/pods", "watch=1&resourceVersion=0&timeoutSeconds=1", "", "application/vnd.kubernetes.protobuf", "")
	f.Add("POST", "/api/v1/namespaces/a/pods", "", "application/json", "", `{"metadata":{"generateName":"x"}}`)
	f.Add("POST", "/api/v1/namespaces/a/pods", "", "application/vnd.kubernetes.protobuf", "", "k8s\x00\n\x09\n\x02v1\x12\x03Pod\x12\x02\x0a\x00\x1a\x00\"\x00")
	f.Add("PUT", "/api/v1/namespaces/a/pods/p/status", "", "application/yaml", "*/*", "status: {phase: x}")
	f.Add("PATCH", "/api/v1/namespaces/a/pods/p", "", "application/json-patch+json", "", `[{"op":"copy","from":"/metadata","path":"/spec"}]`)
	f.Add("PATCH", "/api/v1/namespaces/a/pods/p", "", "application/strategic-merge-patch+json", "", `{"spec":{"$patch":"delete"}}`)
	f.Add("PATCH", "/apis/demo.informer.example/v1/namespaces/a/widgets/w", "", "application/merge-patch+json", "", `{"metadata":null}`)
	f.Add("DELETE", "/api/v1/namespaces/a/pods", "labelSelector=x", "", "", `{}`)
	f.Add("POST", "/apis/demo.informer.example/v1/namespaces/a/widgets", "", "", "", `{"kind":"Widget","apiVersion":"demo.informer.example/v1","metadata":{"name":"w","labels":5}}`)
	f.Fuzz(func(t *testing.T, method, path, query, contentType, accept, body string) {
		u := &url.URL{Scheme: "http", Host: "h", Path: path, RawQuery: query}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, "http://h/", io.NopCloser(strings.NewReader(body)))
		if err != nil {
			return
		}
		req.URL = u
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", accept)
		s := New(withWidgets())
		put(t, s, pod("a", "p", "x", "y"))
		if _, err := s.Apply(widgets, &widget{ObjectMeta: pod("a", "w").ObjectMeta}); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		if w.Code < 200 || w.Code > 599 || w.Code == http.StatusInternalServerError && !strings.Contains(query, "watch") {
			t.Errorf("%s %s?%s: %d %s", method, path, query, w.Code, w.Body)
		}
		for _, enc := range []string{jsonMedia, protoMedia} {
			if a := get(t, s, "/api/v1/pods", "Accept", enc); a.code != 200 {
				t.Errorf("afterwards, %s: %d %s", enc, a.code, a.body)
			}
		}
		if a := get(t, s, "/apis/demo.informer.example/v1/widgets"); a.code != 200 {
			t.Errorf("afterwards, widgets: %d %s", a.code, a.body)
		}
	})
}
