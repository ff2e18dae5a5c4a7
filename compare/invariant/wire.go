package invariant

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim/fault"
)

// Transport returns a transport that shows the checker every request and answer
// on its way. Each client has a checker of its own, for one resource.
func (c *Checker) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{checker: c, next: next}
}

type transport struct {
	checker *Checker
	next    http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x := t.checker.asked(r)
	if x == nil {
		return t.next.RoundTrip(r)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		t.checker.ended(x, err)
		return nil, err
	}
	t.checker.answered(x, resp)
	resp.Body = &watchedBody{body: resp.Body, checker: t.checker, x: x}
	return resp, nil
}

// exchange is one request with its answer. Guarded by Checker.mu.
type exchange struct {
	op        fault.Op
	rv        string // asked for
	token     string // asked for
	probe     bool   // one object, to see where the server is
	began     time.Time
	limit     time.Duration // how long it may last
	timedOut  bool
	over      bool
	code      int
	opaque    bool // compressed, or too long: it isn't looked into
	list      bytes.Buffer
	split     fault.Splitter
	marked    bool // the state of a watch-list has ended
	unread    bool // a frame couldn't be read
	delivered int  // live events and bookmarks
}

// watchedBody is the client's end of an answer.
type watchedBody struct {
	body    io.ReadCloser
	checker *Checker
	x       *exchange
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.checker.received(b.x, p[:n])
	if err != nil {
		b.checker.ended(b.x, err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.checker.ended(b.x, io.ErrClosedPipe)
	return b.body.Close()
}

// asked notes a request, nil if it is none for lists and watches.
func (c *Checker) asked(r *http.Request) *exchange {
	op, _ := fault.OpOf(r)
	if op == fault.Other {
		return nil
	}
	q := r.URL.Query()
	x := &exchange{
		op: op, rv: q.Get("resourceVersion"), token: q.Get("continue"), began: time.Now(), limit: c.opts.ListTimeout,
		probe: op == fault.List && q.Get("limit") == "1",
	}
	if op != fault.List {
		seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
		if x.limit = time.Duration(seconds)*time.Second + c.opts.Slack; seconds == 0 {
			x.limit = 0
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wire.used = true
	c.judge(x)
	c.wire.open = append(c.wire.open, x)
	return x
}

// answered notes the headers of an answer.
func (c *Checker) answered(x *exchange, resp *http.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.code = resp.StatusCode
	x.opaque = strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip")
	c.wire.opaque = c.wire.opaque || x.opaque
	x.split.Protobuf = strings.HasPrefix(resp.Header.Get("Content-Type"), "application/vnd.kubernetes.protobuf")
	if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && after > 0 {
		c.wire.notBefore = time.Now().Add(time.Duration(after) * time.Second)
	}
}

// received takes bytes that the client has read.
func (c *Checker) received(x *exchange, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case x.over || x.opaque || len(b) == 0:
	case x.op == fault.List || x.code != http.StatusOK:
		if x.list.Len()+len(b) > c.opts.MaxPage {
			x.opaque, c.wire.opaque = true, true
			x.list = bytes.Buffer{}
			return
		}
		x.list.Write(b)
	default:
		x.split.Write(b)
		for {
			f, ok := x.split.Next()
			if !ok {
				return
			}
			c.frame(x, f)
		}
	}
}

// ended notes how an answer ended: io.EOF is the clean end, io.ErrClosedPipe
// means that the client has closed it.
func (c *Checker) ended(x *exchange, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	c.overdue(x)
	for i, o := range c.wire.open {
		if o == x {
			c.wire.open = append(c.wire.open[:i], c.wire.open[i+1:]...)
			break
		}
	}
	switch {
	case x.code != http.StatusOK && x.code != 0:
		st := statusIn(x.list.Bytes())
		if st.Code == 0 {
			st.Code = int32(x.code)
		}
		c.refused(x, st)
	case x.op == fault.List && x.code == http.StatusOK:
		// A client may close a list once it has read its last byte.
		c.page(x, err == io.EOF || err == io.ErrClosedPipe)
	case len(x.split.Rest()) > 0 && (err == io.EOF || err == io.ErrClosedPipe):
		// Half a frame and then a clean end, or bytes of which the client has seen
		// enough.
		c.wire.cause = true
	}
	if x.delivered == 0 {
		c.wire.fruitless(x.began, c)
	} else {
		c.wire.vain = nil
	}
	x.list.Reset()
}

// Idle looks for requests that are open for too long.
func (c *Checker) Idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.wire.open {
		c.overdue(x)
	}
}

func (c *Checker) overdue(x *exchange) {
	if lasted := time.Since(x.began); x.limit > 0 && lasted > x.limit && !x.timedOut {
		x.timedOut = true
		c.broken("I11", "a %s from version %q has been open for %v, %v are allowed", opName(x.op), x.rv, lasted, x.limit)
	}
}

func statusIn(body []byte) metav1.Status {
	if st, ok := fault.DecodeStatus(body); ok {
		return st
	}
	return metav1.Status{}
}

// listMeta reads what a page says of its list.
func listMeta(body []byte) (meta metav1.ListMeta, ok bool) {
	p, err := fault.ParsePage(body)
	if err != nil {
		return meta, false
	}
	if !p.Protobuf && !json.Valid(body) {
		return meta, false
	}
	return p.Meta, true
}

func opName(op fault.Op) string {
	switch op {
	case fault.List:
		return "list"
	case fault.WatchList:
		return "watch-list"
	}
	return "watch"
}
