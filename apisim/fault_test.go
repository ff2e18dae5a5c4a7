package apisim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func always(f Fault) func(*http.Request) Fault { return func(*http.Request) Fault { return f } }

func TestRefuse(t *testing.T) {
	s := New()
	s.SetFault(always(Refuse(metav1.Status{Code: 503, Reason: metav1.StatusReasonServiceUnavailable, Message: "later"}, 1500*time.Millisecond)))
	for _, accept := range []string{jsonMedia, protoMedia} {
		a := get(t, s, "/api/v1/pods", "Accept", accept)
		if a.code != 503 || a.header.Get("Retry-After") != "2" || a.header.Get("Content-Type") != accept {
			t.Errorf("%d %v", a.code, a.header)
		}
	}
	st := get(t, s, "/api/v1/pods?watch=1").status(t)
	if st.Kind != "Status" || st.Status != "Failure" || st.Message != "later" || st.Details.RetryAfterSeconds != 2 {
		t.Errorf("Status %+v", st)
	}
	s.SetFault(nil)
	if a := get(t, s, "/api/v1/pods"); a.code != 200 {
		t.Errorf("after the fault: %d", a.code)
	}
	if n := s.Stats().Count("list", "pods"); n != 3 {
		t.Errorf("%d lists counted", n)
	}
}

func TestRespond(t *testing.T) {
	s := New()
	s.SetFault(always(Respond(200, "text/html", "<html>")))
	if a := get(t, s, "/api/v1/pods"); a.code != 200 || a.header.Get("Content-Type") != "text/html" || string(a.body) != "<html>" {
		t.Errorf("%d %v %q", a.code, a.header, a.body)
	}
}

// A cut leaves exactly so many bytes, and breaks the body.
func TestCutAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		if err := s.Fill(60); err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{"/api/v1/pods", "/api/v1/pods?watch=1&resourceVersion=100&timeoutSeconds=1"} {
			s.SetFault(nil)
			whole := get(t, s, url).body
			for _, n := range []int{0, 1, 1000, 200_000, len(whole), len(whole) + 1} {
				s.SetFault(always(CutAfter(int64(n))))
				body, err := open(t.Context(), s, url)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(body)
				body.Close()
				if want := whole[:min(n, len(whole))]; !bytes.Equal(got, want) {
					t.Errorf("%s cut at %d: %d bytes", url, n, len(got))
				}
				if n < len(whole) != errors.Is(err, io.ErrUnexpectedEOF) || n >= len(whole) && err != nil {
					t.Errorf("%s cut at %d: %v", url, n, err)
				}
			}
		}
		synctest.Wait()
		if n := s.Stats().Watches; n != 0 {
			t.Errorf("%d watches left", n)
		}
	})
}

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		s.SetFault(func(r *http.Request) Fault {
			if r.URL.Query().Get("watch") != "" {
				return Hang()
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := open(ctx, s, "/api/v1/pods?watch=1"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if a := get(t, s, "/api/v1/pods"); a.code != 200 {
			t.Errorf("list: %d", a.code)
		}
	})
}

// A fault may change the request and the answer; it is more than a refusal.
func TestFaultAsMiddleware(t *testing.T) {
	s := New()
	put(t, s, pod("a", "p"))
	s.SetFault(always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		r.URL.Path = strings.Replace(r.URL.Path, "nodes", "pods", 1)
		w.Header().Set("X-Fault", "1")
		next.ServeHTTP(w, r)
	}))
	a := get(t, s, "/api/v1/nodes")
	if a.header.Get("X-Fault") != "1" || a.list(t).keys() != "a/p" {
		t.Errorf("%v %s", a.header, a.body)
	}
}
