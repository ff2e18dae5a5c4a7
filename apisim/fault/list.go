package fault

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Page is the body of a list, taken apart. Put together again without a change,
// it is the same list.
type Page struct {
	Protobuf         bool
	APIVersion, Kind string
	Meta             metav1.ListMeta
	Items            [][]byte // each as on the wire
	// MetaLast puts the metadata behind the items, as lists of custom resources
	// have it.
	MetaLast bool
	// MetaTwice (protobuf) writes the metadata before the items and behind them.
	MetaTwice bool
	// Unknown (protobuf) adds fields that no one knows to the list and to each
	// item.
	Unknown bool
	// NullItems (JSON) writes null for no items.
	NullItems bool
}

// marks are places in the bytes of a Page.
type marks struct {
	items   []span
	meta    int // where the metadata begins
	trailer int // where what closes the list begins
}

type span struct{ start, end int }

// ParsePage takes the body of a list apart. The items are parts of body.
func ParsePage(body []byte) (*Page, error) {
	if bytes.HasPrefix(body, []byte(magic)) {
		return parseProtobufPage(body)
	}
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Meta       metav1.ListMeta   `json:"metadata"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("fault: a list that can't be read: %w", err)
	}
	p := &Page{APIVersion: list.APIVersion, Kind: list.Kind, Meta: list.Meta}
	for _, it := range list.Items {
		p.Items = append(p.Items, it)
	}
	items, meta := bytes.Index(body, []byte(`"items":`)), bytes.Index(body, []byte(`"metadata":`))
	p.MetaLast = items >= 0 && items < meta
	return p, nil
}

func parseProtobufPage(body []byte) (*Page, error) {
	p := &Page{Protobuf: true}
	apiVersion, kind, raw, err := opened(body)
	if err != nil {
		return nil, fmt.Errorf("fault: a list that can't be read: %w", err)
	}
	p.APIVersion, p.Kind = apiVersion, kind
	err = eachField(raw, func(n int, content []byte, _, _ int) {
		switch n {
		case 1:
			if p.Meta.Unmarshal(content) != nil {
				p.Meta = metav1.ListMeta{}
			}
		case 2:
			p.Items = append(p.Items, content)
		}
	})
	return p, err
}

// encode puts the list together.
func (p *Page) encode() ([]byte, marks) {
	if p.Protobuf {
		return p.encodeProtobuf()
	}
	var m marks
	b := []byte(`{"kind":` + string(jsonOf(p.Kind)) + `,"apiVersion":` + string(jsonOf(p.APIVersion)) + `,`)
	if p.MetaLast {
		b = []byte(`{"apiVersion":` + string(jsonOf(p.APIVersion)) + `,`)
	}
	meta := func() {
		m.meta = len(b)
		b = append(append(b, `"metadata":`...), jsonOf(p.Meta)...)
	}
	if !p.MetaLast {
		meta()
		b = append(b, ',')
	}
	b = append(b, `"items":`...)
	if p.NullItems && len(p.Items) == 0 {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i, it := range p.Items {
			if i > 0 {
				b = append(b, ',')
			}
			start := len(b)
			b = append(b, it...)
			m.items = append(m.items, span{start, len(b)})
		}
		b = append(b, ']')
	}
	if p.MetaLast {
		b = append(b, `,"kind":`+string(jsonOf(p.Kind))+`,`...)
		meta()
	}
	m.trailer = len(b)
	return append(b, "}\n"...), m
}

func (p *Page) encodeProtobuf() ([]byte, marks) {
	metadata, _ := p.Meta.Marshal() // strings and a number: this can't fail
	var m marks
	var raw []byte
	meta := func() {
		m.meta = len(raw)
		raw = field(raw, 1, metadata)
	}
	if !p.MetaLast {
		meta()
	}
	if p.Unknown {
		raw = field(raw, 99, []byte("a field of tomorrow"))
		raw = append(raw, 98<<3&0x7f|0x80, 98>>4, 7) // a number
	}
	for _, it := range p.Items {
		if p.Unknown {
			it = field(bytes.Clone(it), 999, []byte("another"))
		}
		start := len(raw)
		raw = field(raw, 2, it)
		m.items = append(m.items, span{start, len(raw)})
	}
	if p.MetaLast || p.MetaTwice {
		meta()
	}
	b := envelope(p.APIVersion, p.Kind, raw)
	head := len(b) - len(trailer) - len(raw)
	for i := range m.items {
		m.items[i].start += head
		m.items[i].end += head
	}
	m.meta += head
	m.trailer = len(b) - len(trailer)
	return b, m
}
