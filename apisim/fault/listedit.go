package fault

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The faults of this file take a whole page of a list from the server, and send
// it changed or in part.

// EditList changes a page of a list.
func EditList(change func(p *Page)) Fault {
	return paged(func(p *Page) ([]byte, ending) {
		change(p)
		b, _ := p.encode()
		return b, clean
	})
}

// paged is the fault that sends what send returns in place of the page.
func paged(send func(p *Page) ([]byte, ending)) Fault {
	return edited(func() editor { return &pageEditor{send: send} })
}

type pageEditor struct {
	body bytes.Buffer
	send func(p *Page) ([]byte, ending)
}

func (e *pageEditor) edit(_ *output, b []byte) { e.body.Write(b) }

func (e *pageEditor) whole(out *output) {
	p, err := ParsePage(e.body.Bytes())
	if err != nil {
		out.send(e.body.Bytes()) // not a list
		return
	}
	b, end := e.send(p)
	out.send(b)
	out.finish(end)
}

// Place is where a list is cut.
type Place string

// The places. Where the page has fewer items than would be let through, it is
// cut behind the last one that it has.
const (
	InsideItem     Place = "inside-item"     // in the middle of an item
	BetweenItems   Place = "between-items"   // exactly behind one
	BeforeMetadata Place = "before-metadata" // behind the items, before the metadata that follows them (custom resources)
	BeforeTrailer  Place = "before-trailer"  // before what closes the list: } in JSON, the empty fields in protobuf
)

// CutList breaks the connection of a list after n whole items, or at another
// place. With cleanly it ends the answer as if that were all.
func CutList(at Place, n int, cleanly bool) Fault {
	end := breakOff
	if cleanly {
		end = clean
	}
	return paged(func(p *Page) ([]byte, ending) {
		if at == BeforeMetadata {
			p.MetaLast = true
		}
		b, m := p.encode()
		return b[:m.place(at, n)], end
	})
}

func (m marks) place(at Place, n int) int {
	switch {
	case at == BeforeMetadata:
		return m.meta
	case at == BeforeTrailer || len(m.items) == 0:
		return m.trailer
	case at == InsideItem && n < len(m.items):
		return (m.items[n].start + m.items[n].end) / 2
	case n == 0:
		return m.items[0].start
	}
	return m.items[min(n, len(m.items))-1].end
}

// StatusTail lets n items of a list pass and then puts a Status where the next
// item should be, as a server does whose encoding fails half-way.
func StatusTail(n int, st metav1.Status) Fault {
	return paged(func(p *Page) ([]byte, ending) {
		b, m := p.encode()
		b = b[:m.place(BetweenItems, n)]
		if p.Protobuf {
			return append(b, protobufStatus(complete(st, 0))...), clean
		}
		if len(m.items) > 0 && n > 0 {
			b = append(b, ',')
		}
		return append(b, jsonOf(complete(st, 0))...), clean
	})
}

// ListVersion gives a list another version: "", "0", "abc", one from before.
func ListVersion(rv func(sent string) string) Fault {
	return EditList(func(p *Page) { p.Meta.ResourceVersion = rv(p.Meta.ResourceVersion) })
}

// NullItems writes the items of an empty page as null (JSON), or leaves them
// out (protobuf).
func NullItems() Fault { return EditList(func(p *Page) { p.NullItems = true }) }

// EmptyPages puts a page without items before each page but the first. On a
// list it is for every page.
func EmptyPages() Fault {
	const mark = "empty."
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		token := r.URL.Query().Get("continue")
		if rest, ok := strings.CutPrefix(token, mark); ok {
			next.ServeHTTP(w, withQuery(r, func(q url.Values) { q.Set("continue", rest) }))
			return
		}
		if token == "" {
			next.ServeHTTP(w, r)
			return
		}
		EditList(func(p *Page) { p.Items, p.Meta.Continue = nil, mark+token })(w, r, next)
	}
}

// RepeatItem gives the first item of each page once more at the end of the same
// page, in an older version, as a list can have it whose pages are of different
// moments. With first, the older one comes first.
func RepeatItem(first bool) Fault {
	return EditList(func(p *Page) {
		if len(p.Items) == 0 {
			return
		}
		older := withVersion(p.Items[0], p.Protobuf, "1")
		if first {
			p.Items = append([][]byte{older}, p.Items...)
		} else {
			p.Items = append(p.Items, older)
		}
	})
}

// withVersion returns an object with another resourceVersion.
func withVersion(object []byte, protobuf bool, rv string) []byte {
	if !protobuf {
		var whole, meta map[string]json.RawMessage
		if json.Unmarshal(object, &whole) != nil || json.Unmarshal(whole["metadata"], &meta) != nil {
			return object
		}
		meta["resourceVersion"] = jsonOf(rv)
		whole["metadata"] = jsonOf(meta)
		return jsonOf(whole)
	}
	var out []byte
	err := eachField(object, func(n int, content []byte, start, end int) {
		var meta metav1.ObjectMeta
		if n != 1 || meta.Unmarshal(content) != nil {
			out = append(out, object[start:end]...)
			return
		}
		meta.ResourceVersion = rv
		b, _ := meta.Marshal() // it was read from bytes
		out = field(out, 1, b)
	})
	if err != nil {
		return object
	}
	return out
}

// IgnoreQuery takes parameters out of the query, as a server does that doesn't
// know them.
func IgnoreQuery(names ...string) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, withQuery(r, func(q url.Values) {
			for _, name := range names {
				q.Del(name)
			}
		}))
	}
}

// withQuery returns the request with another query.
func withQuery(r *http.Request, change func(q url.Values)) *http.Request {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	change(q)
	r.URL.RawQuery = q.Encode()
	r.RequestURI = r.URL.RequestURI()
	return r
}

// StrangeProtobuf sends a protobuf list in a form that is legal but that today's
// servers don't send: unknown fields, metadata after the items, metadata twice.
func StrangeProtobuf() Fault {
	return EditList(func(p *Page) { p.Unknown, p.MetaLast, p.MetaTwice = true, true, true })
}
