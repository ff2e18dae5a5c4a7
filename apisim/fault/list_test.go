package fault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"informer.example/apisim/fault"
)

// list decodes a list as apimachinery does.
func (a answer) list() (*corev1.PodList, error) {
	list := &corev1.PodList{}
	if !bytes.HasPrefix(a.body, []byte("k8s\x00")) {
		return list, json.Unmarshal(a.body, list)
	}
	var u runtime.Unknown
	if err := u.Unmarshal(a.body[4:]); err != nil {
		return nil, err
	}
	if u.Kind != "PodList" || u.APIVersion != "v1" {
		return nil, fmt.Errorf("a %s %s", u.APIVersion, u.Kind)
	}
	return list, list.Unmarshal(u.Raw)
}

func both(t *testing.T, test func(t *testing.T, accept string)) {
	for _, accept := range []string{jsonType, protobufType} {
		t.Run(strings.TrimPrefix(accept, "application/"), func(t *testing.T) { test(t, accept) })
	}
}

// C3: a page that is taken apart and put together is the same bytes.
func TestEditList_RoundTrip(t *testing.T) {
	both(t, func(t *testing.T, accept string) {
		s := newServer(t, 3)
		plain := get(t, s, "/api/v1/pods?limit=2", accept)
		s.SetFault(func(*http.Request) fault.Fault { return fault.EditList(func(*fault.Page) {}) })
		if got := get(t, s, "/api/v1/pods?limit=2", accept); got.err != nil || !bytes.Equal(got.body, plain.body) {
			t.Errorf("%v\n%q\nwant\n%q", got.err, got.body, plain.body)
		}
		if got := get(t, s, "/api/v1/pods?limit=2&continue=nonsense", accept); got.code != 400 {
			t.Errorf("an error passes as it is: %d", got.code)
		}
	})
}

// TestListFaults: what a client that knows nothing of faults makes of the list.
func TestListFaults(t *testing.T) {
	const whole = "103: p00@101 p01@102 p02@103"
	tests := []struct {
		why   string
		fault fault.Fault
		want  string // "version: name@version …", or "" for a body that can't be read
		ends  error
	}{
		{"inside an item", fault.CutList(fault.InsideItem, 1, false), "", io.ErrUnexpectedEOF},
		{"between items", fault.CutList(fault.BetweenItems, 1, false), "", io.ErrUnexpectedEOF},
		{"between items, as if it were all", fault.CutList(fault.BetweenItems, 1, true), "", nil},
		{"before the metadata", fault.CutList(fault.BeforeMetadata, 0, false), "", io.ErrUnexpectedEOF},
		{"a Status in an item's place", fault.StatusTail(2, fault.StatusFor(500)), "", nil},
		{"another version", fault.ListVersion(func(string) string { return "abc" }), "abc: p00@101 p01@102 p02@103", nil},
		{"no items", fault.NullItems(), whole, nil},
		{"an item twice", fault.RepeatItem(false), "103: p00@101 p01@102 p02@103 p00@1", nil},
		{"an item twice, the old one first", fault.RepeatItem(true), "103: p00@1 p00@101 p01@102 p02@103", nil},
		{"a selector ignored", fault.IgnoreQuery("fieldSelector"), whole, nil},
		{"legal, but unusual", fault.StrangeProtobuf(), whole, nil},
	}
	for _, tt := range tests {
		both(t, func(t *testing.T, accept string) {
			s := newServer(t, 3)
			s.SetFault(func(*http.Request) fault.Fault { return tt.fault })
			url := "/api/v1/pods"
			if tt.why == "a selector ignored" {
				url += "?fieldSelector=metadata.name%3Dp01"
			}
			got := get(t, s, url, accept)
			if !errors.Is(got.err, tt.ends) || tt.ends == nil && got.err != nil {
				t.Errorf("%s: %v, want %v", tt.why, got.err, tt.ends)
			}
			list, err := got.list()
			words := ""
			if err == nil {
				words = list.ResourceVersion + ":"
				for _, p := range list.Items {
					words += " " + p.Name + "@" + p.ResourceVersion
				}
			}
			if words != tt.want {
				t.Errorf("%s: %q, %v; want %q", tt.why, words, err, tt.want)
			}
		})
	}
}

// The place of a cut is where its name says.
func TestCutList_Places(t *testing.T) {
	both(t, func(t *testing.T, accept string) {
		s := newServer(t, 3)
		plain := get(t, s, "/api/v1/pods", accept).body
		cut := func(at fault.Place, n int) []byte {
			s.SetFault(func(*http.Request) fault.Fault { return fault.CutList(at, n, false) })
			return get(t, s, "/api/v1/pods", accept).body
		}
		between := cut(fault.BetweenItems, 2)
		inside := cut(fault.InsideItem, 2)
		trailer := cut(fault.BeforeTrailer, 0)
		for _, b := range [][]byte{between, inside, trailer} {
			if !bytes.HasPrefix(plain, b) {
				t.Errorf("not a part of the list: %q", b)
			}
		}
		if n := bytes.Count(between, []byte("p01")); n != 1 || bytes.Contains(between, []byte("p02")) {
			t.Errorf("between: %q", between)
		}
		if len(inside) <= len(between) || len(inside) >= len(trailer) {
			t.Errorf("inside: %d bytes, between %d, trailer %d", len(inside), len(between), len(trailer))
		}
		if rest := string(plain[len(trailer):]); rest != "}\n" && rest != "\x1a\x00\x22\x00" {
			t.Errorf("the trailer: %q", rest)
		}
	})
}

// A list through empty pages is whole: they are not the end.
func TestEmptyPages(t *testing.T) {
	both(t, func(t *testing.T, accept string) {
		s := newServer(t, 5)
		s.SetFault(func(*http.Request) fault.Fault { return fault.EmptyPages() })
		var sizes, names []string
		for token := ""; ; {
			list, err := get(t, s, "/api/v1/pods?limit=2&continue="+token, accept).list()
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, fmt.Sprint(len(list.Items)))
			for _, p := range list.Items {
				names = append(names, p.Name)
			}
			if token = list.Continue; token == "" {
				break
			}
		}
		if got := strings.Join(sizes, " ") + ": " + strings.Join(names, " "); got != "2 0 2 0 1: p00 p01 p02 p03 p04" {
			t.Error(got)
		}
	})
}

func TestCorruptGzip(t *testing.T) {
	for _, how := range []fault.Corrupt{fault.CutBlock, fault.WrongSum, fault.CutChecksum} {
		s := newServer(t, 5)
		s.SetFault(func(*http.Request) fault.Fault { return fault.CorruptGzip(how) })
		got := get(t, s, "/api/v1/pods", jsonType)
		if _, err := unzip(got.body); err == nil || got.err != nil || got.header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %v, %v, %v", how, err, got.err, got.header)
		}
	}
}

// E6: what was sent stays sent; the Status of the failure stands behind the cut
// body, and the end is clean.
func TestE6_StatusBehindCutBody(t *testing.T) {
	s := newServer(t, 3)
	whole := get(t, s, "/api/v1/pods", jsonType)
	s.SetFault(func(*http.Request) fault.Fault { return fault.StatusTail(2, fault.StatusFor(500)) })
	got := get(t, s, "/api/v1/pods", jsonType)
	at := bytes.Index(got.body, []byte(`{"kind":"Status"`))
	if got.err != nil || got.code != 200 || at <= 0 || !bytes.HasPrefix(whole.body, got.body[:at]) {
		t.Fatalf("%d %v: %s", got.code, got.err, got.body)
	}
	var st metav1.Status
	if err := json.Unmarshal(got.body[at:], &st); err != nil || st.Code != 500 {
		t.Errorf("the tail is %s: %v", got.body[at:], err)
	}
}

// E7: overload, shutdown and panics, as servers write them.
func TestE7_Refusals(t *testing.T) {
	const text = "text/plain; charset=utf-8"
	for _, tt := range []struct {
		why, media, retryAfter, connection string
		fault                              fault.Fault
		code                               int
	}{
		{"priority and fairness", text, "1", "", fault.Overloaded(time.Second), 429},
		{"shutdown", text, "5", "close", fault.Draining(), 429},
		{"shutdown, a Status", jsonType, "1", "", fault.Refuse(fault.StatusFor(503), time.Second), 503},
		{"panic", text, "", "", fault.Panicked(), 500},
	} {
		s := newServer(t, 1)
		s.SetFault(func(*http.Request) fault.Fault { return tt.fault })
		got := get(t, s, "/api/v1/pods", jsonType)
		h := got.header
		if got.code != tt.code || h.Get("Content-Type") != tt.media || h.Get("Retry-After") != tt.retryAfter || h.Get("Connection") != tt.connection {
			t.Errorf("%s: %d %v", tt.why, got.code, h)
		}
		if isStatus := bytes.Contains(got.body, []byte(`"kind":"Status"`)); isStatus != (tt.media == jsonType) {
			t.Errorf("%s: %s", tt.why, got.body)
		}
	}
}

// E8: before the headers a 504 without kind and type, after them a broken end.
func TestE8_Deadline(t *testing.T) {
	s := newServer(t, 3)
	s.SetFault(func(*http.Request) fault.Fault { return fault.DeadlineBeforeHeaders() })
	got := get(t, s, "/api/v1/pods", jsonType)
	var st metav1.Status
	if err := json.Unmarshal(got.body, &st); err != nil || got.code != 504 || st.Code != 504 || st.Kind != "" || st.APIVersion != "" || got.header.Get("Content-Type") != "" {
		t.Errorf("before: %d %v %s", got.code, got.header, got.body)
	}
	s.SetFault(func(*http.Request) fault.Fault { return fault.CutAfter(20) })
	if got := get(t, s, "/api/v1/pods", jsonType); got.code != 200 || len(got.body) != 20 || !errors.Is(got.err, io.ErrUnexpectedEOF) {
		t.Errorf("after: %d %v %q", got.code, got.err, got.body)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		why        string
		fault      fault.Fault
		code       int
		media      string
		retryAfter string
		says       string
	}{
		{"overloaded", fault.Overloaded(1), 429, "text/plain; charset=utf-8", "1", "Too many requests"},
		{"overloaded, without a hint", fault.Overloaded(0), 429, "text/plain; charset=utf-8", "", "Too many requests"},
		{"draining", fault.Draining(), 429, "text/plain; charset=utf-8", "5", "shutting down"},
		{"panicked", fault.Panicked(), 500, "text/plain; charset=utf-8", "", "panic"},
		{"deadline", fault.DeadlineBeforeHeaders(), 504, "", "", `"reason":"Timeout"`},
		{"expired", fault.Expired("token"), 410, jsonType, "", `"continue":"token"`},
		{"too large", fault.TooLarge(0), 504, jsonType, "", `"ResourceVersionTooLarge"`},
		{"forbidden", fault.Refuse(fault.StatusFor(403), 0), 403, jsonType, "", `"reason":"Forbidden"`},
	}
	for _, tt := range tests {
		s := newServer(t, 1)
		s.SetFault(func(*http.Request) fault.Fault { return tt.fault })
		got := get(t, s, "/api/v1/pods", jsonType)
		if got.code != tt.code || got.header.Get("Content-Type") != tt.media || got.header.Get("Retry-After") != tt.retryAfter || !strings.Contains(string(got.body), tt.says) {
			t.Errorf("%s: %d %v %s", tt.why, got.code, got.header, got.body)
		}
	}
	s := newServer(t, 1)
	s.SetFault(func(*http.Request) fault.Fault { return fault.Expired("token") })
	got := get(t, s, "/api/v1/pods", protobufType+","+jsonType)
	var u runtime.Unknown
	var st metav1.Status
	if err := u.Unmarshal(got.body[4:]); err != nil || st.Unmarshal(u.Raw) != nil || st.Continue != "token" || u.Kind != "Status" {
		t.Errorf("in protobuf: %v, %+v", err, st)
	}
}
