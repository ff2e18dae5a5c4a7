package reflector

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// decodeJSONList walks a list's tokens and lends each item's bytes as they
// arrive. The members may come in any order: lists of custom resources have
// their metadata after their items.
func decodeJSONList(r io.Reader, maxItem int, use useItem) (listHead, error) {
	l := jsonList{budget: budget{r: r, limit: maxItem, option: "SourceOptions.MaxItemBytes"}, use: use}
	l.budget.renew()
	l.dec = jsontext.NewDecoder(&l.budget, jsonText)
	err := l.object()
	if err == nil {
		err = l.end()
	}
	if err == nil {
		err = l.judge()
	}
	return l.head, err
}

type jsonList struct {
	dec    *jsontext.Decoder
	budget budget
	use    useItem

	head   listHead
	status metav1.Status // filled when the body is a Status
	items  int
	found  bool // the member "items" was there
	peeker jsonPeeker
	// held are items met before the list's kind and apiVersion, while they may need them.
	held []heldItem
}

type heldItem struct {
	number int
	raw    []byte
}

// object reads the list's members.
func (l *jsonList) object() error {
	if err := l.open('{', "a list"); err != nil {
		return err
	}
	for {
		l.budget.renew()
		tok, err := l.dec.ReadToken()
		if err != nil {
			return unreadable("a list", err)
		}
		if tok.Kind() == '}' {
			return nil
		}
		if err := l.member(tok.String()); err != nil {
			return err
		}
	}
}

func (l *jsonList) member(name string) error {
	var into any
	switch name {
	case "items":
		return l.array()
	case "kind":
		into = &l.head.Kind
	case "apiVersion":
		into = &l.head.APIVersion
	case "metadata":
		return l.metadata()
	case "status":
		into = &l.status.Status
	case "message":
		into = &l.status.Message
	case "reason":
		into = &l.status.Reason
	case "details":
		into = &l.status.Details
	case "code":
		into = &l.status.Code
	default:
		return unreadable("a list", l.dec.SkipValue())
	}
	raw, err := l.dec.ReadValue()
	if err != nil {
		return unreadable("a list", err)
	}
	err = json.Unmarshal(raw, into, jsonObjects)
	if err != nil && (name == "kind" || name == "apiVersion") {
		return &DecodeError{What: "a list's " + name, Err: err}
	}
	return nil // the others matter in a Status alone
}

func (l *jsonList) metadata() error {
	raw, err := l.dec.ReadValue()
	if err != nil {
		return unreadable("a list's metadata", err)
	}
	var m metav1.ListMeta
	if err := json.Unmarshal(raw, &m, jsonObjects); err != nil {
		return &DecodeError{What: "a list's metadata", Err: err}
	}
	l.head.resourceVersion, l.head.token = m.ResourceVersion, m.Continue
	if m.RemainingItemCount != nil {
		l.head.remaining = *m.RemainingItemCount
	}
	return nil
}

// array reads the items; null is none.
func (l *jsonList) array() error {
	l.found = true
	if l.dec.PeekKind() == 'n' {
		return unreadable("a list", l.dec.SkipValue())
	}
	if err := l.open('[', "a list's items"); err != nil {
		return err
	}
	for {
		l.budget.renew()
		if l.dec.PeekKind() == ']' {
			_, err := l.dec.ReadToken()
			return unreadable("a list's items", err)
		}
		raw, err := l.dec.ReadValue()
		if err != nil {
			return unreadable(l.itemName(), err)
		}
		if err := l.item(raw); err != nil {
			return err
		}
		l.items++
	}
}

func (l *jsonList) item(raw []byte) error {
	if l.head.Kind == "" || l.head.APIVersion == "" {
		// They come later. They matter only to items that don't name their own.
		if !l.peeker.namesItsKind(raw) {
			l.held = append(l.held, heldItem{l.items, bytes.Clone(raw)})
			return nil
		}
	}
	return l.lend(raw)
}

func (l *jsonList) lend(raw []byte) error {
	if err := l.use(raw, encJSON, l.head.TypeMeta); err != nil {
		return unreadable(l.itemName(), err)
	}
	return nil
}

func (l *jsonList) itemName() string { return fmt.Sprintf("list item %d", l.items) }

// open reads the token that opens an object or an array.
func (l *jsonList) open(kind jsontext.Kind, what string) error {
	tok, err := l.dec.ReadToken()
	if err != nil {
		return unreadable(what, err)
	}
	if tok.Kind() != kind {
		return &DecodeError{What: what, Err: fmt.Errorf("want %v, got %v", kind, tok.Kind())}
	}
	return nil
}

// end makes sure that nothing follows: a server that fails in the middle
// appends its error to what it has sent.
func (l *jsonList) end() error {
	l.budget.renew()
	_, err := l.dec.ReadToken()
	switch {
	case err == io.EOF:
		return nil
	case err == nil:
		return &DecodeError{What: "a list", Err: errors.New("something follows its end")}
	}
	return unreadable("a list", err)
}

// judge decides whether the object was a list, and lends the items held.
func (l *jsonList) judge() error {
	if l.head.Kind == "Status" {
		l.status.TypeMeta = l.head.TypeMeta
		return statusFailure(l.status)
	}
	if !l.found {
		return &DecodeError{What: "a list", Err: fmt.Errorf("an object of kind %q without items", l.head.Kind)}
	}
	for _, h := range l.held {
		l.items = h.number
		if err := l.lend(h.raw); err != nil {
			return err
		}
	}
	return nil
}
