package apitest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pageClauses() []clause {
	return []clause{
		{id: "K9_PagesShowOneState", test: pagesShowOneState},
		{id: "K9_PagesOfASelection", test: pagesOfASelection},
		{id: "K10_ExpiredToken", test: expiredToken, needs: []ability{canCompact()}, disturbs: true},
		{id: "K11_RemainingItemCount", test: remainingCount},
	}
}

// page returns the page that follows a token.
func (e *env) page(limit int, token string) list {
	e.Helper()
	return e.get(fmt.Sprintf("%s?limit=%d&continue=%s", e.path(), limit, url.QueryEscape(token))).list(e)
}

// All pages show the state at the first one's RV, whatever is written meanwhile.
func pagesShowOneState(e *env) {
	for i := range 7 {
		e.put(fmt.Sprintf("p%d", i))
	}
	l := e.page(3, "")
	first := l.Metadata.ResourceVersion
	got := l.names()
	for page := 1; l.Metadata.Continue != ""; page++ {
		if page > 7 {
			e.Fatal("the pages don't end")
		}
		e.remove(fmt.Sprintf("p%d", 6-page)) // p5 and p4, not shown yet
		e.put(fmt.Sprintf("p6-%d", page))
		e.label("p6", "page", fmt.Sprint(page))
		l = e.page(3, l.Metadata.Continue)
		if l.Metadata.ResourceVersion != first {
			e.Errorf("page %d is at %s, the first at %s", page, l.Metadata.ResourceVersion, first)
		}
		for _, o := range l.Items {
			if o.Labels["page"] != "" {
				e.Errorf("page %d shows a label that was set after the first", page)
			}
		}
		got += " | " + l.names()
	}
	if want := "p0 p1 p2 | p3 p4 p5 | p6"; got != want {
		e.Errorf("pages: %s, want %s", got, want)
	}
}

// With a selector, pages may be short or empty; only an empty token ends them.
func pagesOfASelection(e *env) {
	for i := range 9 {
		e.put(fmt.Sprintf("p%d", i), "third", fmt.Sprint(i%3 == 0))
	}
	var names []string
	token := ""
	for page := 0; page == 0 || token != ""; page++ {
		if page > 9 {
			e.Fatal("the pages don't end")
		}
		l := e.get(e.path() + "?limit=1&labelSelector=third%3Dtrue&continue=" + url.QueryEscape(token)).list(e)
		if len(l.Items) > 1 {
			e.Errorf("page %d has %d items, limit 1", page, len(l.Items))
		}
		names = append(names, strings.Fields(l.names())...)
		token = l.Metadata.Continue
	}
	if got := strings.Join(names, " "); got != "p0 p3 p6" {
		e.Errorf("pages show %s", got)
	}
}

// An expired token gets a 410 with a token that goes on in the newest state; an
// exact list at a forgotten RV gets one without.
func expiredToken(e *env) {
	for i := range 3 {
		e.put(fmt.Sprintf("p%d", i))
	}
	l := e.page(1, "")
	old := e.rv(l.Metadata.ResourceVersion)
	e.put("p3")
	e.remove("p1")
	e.Compact(e.T)
	s := e.get(fmt.Sprintf("%s?limit=1&continue=%s", e.path(), url.QueryEscape(l.Metadata.Continue))).status(e, http.StatusGone)
	if s.Reason != metav1.StatusReasonExpired || s.Continue == "" {
		e.Fatalf("expired token: reason %q, continue %q", s.Reason, s.Continue)
	}
	next := e.page(9, s.Continue)
	if next.names() != "p2 p3" || e.rv(next.Metadata.ResourceVersion) <= old {
		e.Errorf("its token goes on with %q at %s; want p2 p3 at an RV above %d", next.names(), next.Metadata.ResourceVersion, old)
	}
	s = e.get(e.path()+"?resourceVersionMatch=Exact&resourceVersion="+rvOf(old)).status(e, http.StatusGone)
	if s.Reason != metav1.StatusReasonExpired || s.Continue != "" {
		e.Errorf("exact list: reason %q, continue %q; want Expired without a token", s.Reason, s.Continue)
	}
}

// remainingItemCount says how many items follow, if that is known.
func remainingCount(e *env) {
	for i := range 5 {
		e.put(fmt.Sprintf("p%d", i), "all", "yes")
	}
	count := func(l list) int64 {
		if l.Metadata.RemainingItemCount == nil {
			return -1
		}
		return *l.Metadata.RemainingItemCount
	}
	l := e.page(2, "")
	if n := count(l); n != 3 {
		e.Errorf("after 2 of 5: %d remain", n)
	}
	l = e.page(2, l.Metadata.Continue)
	if n := count(l); n != 1 {
		e.Errorf("after 4 of 5: %d remain", n)
	}
	if n := count(e.page(2, l.Metadata.Continue)); n != -1 {
		e.Errorf("on the last page: %d remain, want none said", n)
	}
	for _, selector := range []string{"labelSelector=all%3Dyes", "fieldSelector=metadata.name%21%3Dx"} {
		l := e.get(e.path() + "?limit=2&" + selector).list(e)
		if n := count(l); n != -1 || l.Metadata.Continue == "" {
			e.Errorf("%s: %d remain, continue %q; want none said, and a token", selector, n, l.Metadata.Continue)
		}
	}
}
