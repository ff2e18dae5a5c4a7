package reflector

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// peekJSON reads an object's metadata by its tokens, to the object's end.
func peekJSON(raw []byte) (identity, error) {
	var p jsonPeeker
	return p.identity(raw, false)
}

// jsonPeeker reads the beginnings of objects, one after the other. It keeps
// the token reader.
type jsonPeeker struct {
	dec *jsontext.Decoder
	buf bytes.Buffer
	raw []byte

	id    identity
	early bool // stop when everything is there
}

// identity reads an object's identity. Early stops when it has all of it: what
// follows is then neither checked nor able to say otherwise, as a second member
// of the same name would.
func (p *jsonPeeker) identity(raw []byte, early bool) (identity, error) {
	p.open(raw)
	p.id, p.early = identity{}, early
	err := p.object(p.objectMember)
	if err == errSeen {
		err = nil
	}
	return p.id, err
}

// errSeen ends a walk that has seen enough.
var errSeen = errors.New("seen enough")

// namesItsKind reports whether an object has a kind or an apiVersion of its own.
func (p *jsonPeeker) namesItsKind(raw []byte) bool {
	p.open(raw)
	err := p.object(func(name []byte) error {
		if string(name) == "kind" || string(name) == "apiVersion" {
			if text, err := p.text(); err != nil || len(text) > 0 {
				return errSeen
			}
			return nil
		}
		return p.dec.SkipValue()
	})
	return err != nil
}

func (p *jsonPeeker) open(raw []byte) {
	p.raw = raw
	// The token reader takes a Buffer's bytes where they lie.
	p.buf = *bytes.NewBuffer(raw)
	if p.dec == nil {
		p.dec = jsontext.NewDecoder(&p.buf, jsonText)
		return
	}
	p.dec.Reset(&p.buf, jsonText)
}

// object calls member for each member of the object that comes next; null has none.
func (p *jsonPeeker) object(member func(name []byte) error) error {
	tok, err := p.dec.ReadToken()
	switch {
	case err != nil:
		return err
	case tok.Kind() == 'n':
		return nil
	case tok.Kind() != '{':
		return fmt.Errorf("want an object, got %v", tok.Kind())
	}
	for p.dec.PeekKind() != '}' {
		name, err := p.text()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err = p.dec.ReadToken()
	return err
}

func (p *jsonPeeker) objectMember(name []byte) error {
	if string(name) == "metadata" {
		return p.object(p.metaMember)
	}
	return p.dec.SkipValue()
}

func (p *jsonPeeker) metaMember(name []byte) error {
	var into *[]byte
	switch string(name) {
	case "name":
		into = &p.id.name
	case "namespace":
		into = &p.id.namespace
	case "uid":
		into = &p.id.uid
	case "resourceVersion":
		into = &p.id.resourceVersion
	case "annotations":
		if p.early || p.dec.PeekKind() != '{' {
			return p.dec.SkipValue()
		}
		return p.object(p.annotation)
	default:
		return p.dec.SkipValue()
	}
	text, err := p.text()
	if err != nil {
		return fmt.Errorf("metadata.%s: %w", name, err)
	}
	if text != nil {
		*into = text
	}
	if id := &p.id; p.early && id.name != nil && id.namespace != nil && id.uid != nil && id.resourceVersion != nil {
		return errSeen
	}
	return nil
}

func (p *jsonPeeker) annotation(name []byte) error {
	if string(name) != metav1.InitialEventsAnnotationKey || p.dec.PeekKind() != '"' {
		return p.dec.SkipValue()
	}
	text, err := p.text()
	p.id.initialEventsEnd = string(text) == "true"
	return err
}

// text reads a string, or null, which is nil. It returns the bytes as they lie
// in the object if they say what they are.
func (p *jsonPeeker) text() ([]byte, error) {
	value, err := p.dec.ReadValue()
	switch {
	case err != nil:
		return nil, err
	case value.Kind() == 'n':
		return nil, nil
	case value.Kind() != '"':
		return nil, fmt.Errorf("want a string, got %v", value.Kind())
	}
	end := int(p.dec.InputOffset())
	quoted := p.raw[end-len(value) : end]
	for _, c := range quoted {
		if c == '\\' || c >= 0x80 {
			// All that can be wrong with it is its UTF-8, which is replaced.
			text, _ := jsontext.AppendUnquote([]byte{}, quoted)
			return text, nil
		}
	}
	return quoted[1 : len(quoted)-1], nil
}
