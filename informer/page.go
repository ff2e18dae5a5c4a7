package informer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/indexer"
	"informer.example/object"
)

// Page is a part of a list.
type Page[T metav1.Object] struct {
	Items []T
	// ResourceVersion is what the store stood for when the page was made.
	ResourceVersion string
	// Continue is the next page's ListOptions.Continue; empty on the last page.
	Continue string
	// RemainingItemCount is how many objects follow, nil if that is not known
	// without looking at them: with selectors, as a server has it.
	RemainingItemCount *int64
}

var (
	// ErrForeignContinue: a Continue token is not one, or was made by a list with
	// other selectors, another namespace, or of another kind.
	ErrForeignContinue = errors.New("the token is not of a list like this one; use it with the same selectors, namespace and lister, or begin again without it")
	// ErrStaleContinue: a Continue token of a list from one snapshot was used
	// with another.
	ErrStaleContinue = errors.New("the token is of a list from another snapshot; use it on a lister At that snapshot, or begin again without it")
	// ErrBehind: the store is older than a list asks for.
	ErrBehind = errors.New("the store is older; a list does not wait, WaitForResourceVersion does")
)

// maxToken is the most bytes that a token is read from: several times the longest
// key.
const maxToken = 4096

// token is what Continue holds. It is opaque to callers, and not secret: a
// changed one can only ask for another place in the same list.
type token struct {
	Version   int    `json:"v"`
	Query     string `json:"q"`
	Snapshot  string `json:"s,omitempty"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
}

const tokenVersion = 1

func (t token) encode() string {
	raw, _ := json.Marshal(t) // strings and a number: can't fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// continueAfter reads a token and checks that it was made for this list.
func continueAfter(text, query, snapshot string) (object.Key, error) {
	if text == "" {
		return object.Key{}, nil
	}
	fail := func(err error) (object.Key, error) {
		return object.Key{}, &ListOptionsError{Option: "Continue", Value: text[:min(len(text), 64)], Err: err}
	}
	var t token
	raw, err := base64.RawURLEncoding.DecodeString(text[:min(len(text), maxToken)])
	switch {
	case len(text) > maxToken:
		return fail(fmt.Errorf("%w (it is longer than %d bytes)", ErrForeignContinue, maxToken))
	case err != nil || json.Unmarshal(raw, &t) != nil:
		return fail(ErrForeignContinue)
	case t.Version != tokenVersion:
		return fail(fmt.Errorf("%w (it has version %d, this program makes %d)", ErrForeignContinue, t.Version, tokenVersion))
	case t.Query != query || t.Name == "" || (t.Snapshot == "") != (snapshot == ""):
		return fail(ErrForeignContinue)
	case t.Snapshot != snapshot:
		return fail(ErrStaleContinue)
	}
	return object.Key{Namespace: t.Namespace, Name: t.Name}, nil
}

// Page is [Lister.List] in parts: at most opts.Limit objects, with a token that
// leads to the next part.
//
// No page is kept in memory for you, so by default each one is the present from
// where the last one ended on. An object that is stored and selected all the
// time is on exactly one page, and none is on two; one that comes, goes or
// changes meanwhile may be on one or on none. Equal ResourceVersions mean that
// nothing changed in between. A token stays good for as long as the program
// likes. For pages of one state, page through [Lister.At]: its tokens are good
// for that snapshot alone, else [ErrStaleContinue].
func (l Lister[T]) Page(opts metav1.ListOptions) (Page[T], error) { return l.page("", opts) }

// Page is [Lister.Page] within the namespace.
func (l NamespaceLister[T]) Page(opts metav1.ListOptions) (Page[T], error) {
	return l.lister.page(l.namespace, opts)
}

func (l Lister[T]) page(namespace string, opts metav1.ListOptions) (Page[T], error) {
	if err := checkListOptions(opts); err != nil {
		return Page[T]{}, err
	}
	q, err := compile[T](namespace, l.ownKeys, opts)
	if err != nil {
		return Page[T]{}, err
	}
	q.id += "." + l.resource.String()
	s, bound := l.snapshot()
	if err := l.checkVersion(s, opts); err != nil {
		return Page[T]{}, err
	}
	after, err := continueAfter(opts.Continue, q.id, bound)
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{ResourceVersion: s.ResourceVersion()}
	var last object.Key
	for item, err := range q.run(s, after) {
		if err != nil {
			return Page[T]{}, err
		}
		if opts.Limit > 0 && int64(len(page.Items)) == opts.Limit {
			page.Continue = token{tokenVersion, q.id, bound, last.Namespace, last.Name}.encode()
			break
		}
		page.Items = append(page.Items, item.Object)
		last = item.Key
	}
	if page.Continue != "" && len(q.labels)+len(q.fields) == 0 {
		plan, err := s.Plan(indexer.Query{Namespace: namespace, After: last})
		if err != nil {
			return Page[T]{}, err
		}
		remaining := int64(plan.Candidates)
		page.RemainingItemCount = &remaining
	}
	return page, nil
}

// snapshot returns what to answer from, and if the lister is bound to it, a
// name for it.
func (l Lister[T]) snapshot() (*indexer.Snapshot[T], string) {
	if l.at != nil {
		return l.at, fmt.Sprintf("%d@%s", l.at.Sequence(), l.at.ResourceVersion())
	}
	return l.store.Snapshot(), ""
}

// checkVersion honours ResourceVersion and its match.
func (l Lister[T]) checkVersion(s *indexer.Snapshot[T], opts metav1.ListOptions) error {
	rv, have := opts.ResourceVersion, s.ResourceVersion()
	if !object.UsableVersion(rv) || have == rv {
		return nil
	}
	fail := func(err error) error {
		return &ListOptionsError{Option: "ResourceVersion", Value: rv,
			Err: &VersionWaitError{Name: l.resource.String(), Want: rv, Have: have, Err: err}}
	}
	if opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		return fail(errNotFromStore)
	}
	if object.UsableVersion(have) {
		if c, err := object.CompareVersions(have, rv); err != nil {
			return fail(err)
		} else if c > 0 {
			return nil
		}
	}
	return fail(ErrBehind)
}
