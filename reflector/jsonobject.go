package reflector

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jsonText are the rules of the text: those of Kubernetes' own decoder, which
// takes the last of two equal names and replaces invalid UTF-8.
var jsonText = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// jsonObjects are the rules by which text becomes Go values, again those of
// Kubernetes' own decoder: encoding/json's of old, but with names that match
// exactly, and integers that stay integers in an any.
var jsonObjects = json.JoinOptions(
	v1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(unmarshalAny),
		json.UnmarshalFromFunc(unmarshalMap),
	)),
)

// jsonQuick are the same rules, but give up at the first error, and on Go types
// that aren't quite sound, such as a struct without exported fields; and they
// read times themselves. That takes a third less time. What they refuse is for
// jsonObjects to judge.
var jsonQuick = json.JoinOptions(
	jsonObjects,
	v1.ReportErrorsWithLegacySemantics(false),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(unmarshalTime),
		json.UnmarshalFromFunc(unmarshalAny),
		json.UnmarshalFromFunc(unmarshalMap),
	)),
)

// decodeJSON decodes into what target finds in a new object.
func decodeJSON[T any](raw []byte, newT func() T, target func(T) any) (T, error) {
	obj := newT()
	err := json.Unmarshal(raw, target(obj), jsonQuick)
	if err != nil {
		obj = newT() // the other is half filled
		err = json.Unmarshal(raw, target(obj), jsonObjects)
	}
	return obj, err
}

// unmarshalTime does as Time's own method, which runs another JSON decoder for
// each: a pod has some ten times, and that was an eighth of its cost.
func unmarshalTime(dec *jsontext.Decoder, t *metav1.Time) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	const quotes = 2
	if value.Kind() != '"' || len(value) > len(time.RFC3339Nano)+quotes || bytes.IndexByte(value, '\\') >= 0 {
		return t.UnmarshalJSON(value)
	}
	at, err := time.Parse(time.RFC3339, string(value[1:len(value)-1]))
	if err != nil {
		return err
	}
	t.Time = at.Local()
	return nil
}

func unmarshalAny(dec *jsontext.Decoder, v *any) (err error) {
	*v, err = readAny(dec)
	return err
}

func unmarshalMap(dec *jsontext.Decoder, m *map[string]any) error {
	switch kind := dec.PeekKind(); kind {
	case '{':
		if *m == nil {
			*m = make(map[string]any)
		}
		return readMap(dec, *m)
	case 'n':
		*m = nil
		return dec.SkipValue()
	default:
		return errors.ErrUnsupported
	}
}

// readAny reads a value as Unstructured holds it: map[string]any, []any,
// string, int64, float64, bool or nil.
func readAny(dec *jsontext.Decoder) (any, error) {
	switch dec.PeekKind() {
	case '{':
		m := make(map[string]any)
		return m, readMap(dec, m)
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return nil, err
		}
		list := []any{}
		for dec.PeekKind() != ']' {
			v, err := readAny(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.ReadToken()
		return list, err
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return tok.String(), nil
	case 't', 'f':
		return tok.Bool(), nil
	case '0':
		return number(tok.String())
	}
	return nil, nil
}

func readMap(dec *jsontext.Decoder, m map[string]any) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if m[key], err = readAny(dec); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// number keeps what looks like an integer, and fits, an integer.
func number(text string) (any, error) {
	if !strings.ContainsRune(text, '.') {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
	}
	return strconv.ParseFloat(text, 64)
}

// syntactic reports whether an error is about the JSON text itself.
func syntactic(err error) bool {
	_, ok := errors.AsType[*jsontext.SyntacticError](err)
	return ok
}
