package reflector

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonFrames reads concatenated objects {"type": …, "object": …}, in a single
// pass and in either order.
type jsonFrames struct {
	dec     *jsontext.Decoder
	budget  budget
	scratch []byte // the object of the frame
}

func newJSONFrames(r io.Reader, maxFrame int) *jsonFrames {
	j := &jsonFrames{budget: budget{r: r, limit: maxFrame, option: "SourceOptions.MaxFrameBytes"}}
	j.dec = jsontext.NewDecoder(&j.budget, jsonText)
	return j
}

func (j *jsonFrames) next() (frame, error) {
	j.budget.renew()
	tok, err := j.dec.ReadToken()
	if err == io.EOF {
		return frame{}, io.EOF
	}
	if err == nil && tok.Kind() != '{' {
		err = &DecodeError{Err: fmt.Errorf("want an object, got %v", tok.Kind())}
	}
	var f frame
	if err == nil {
		f, err = j.members()
	}
	return f, unreadable("a watch frame", err)
}

// members reads the frame's inside and its end. The object is copied: the
// reads that follow it may move the buffer.
func (j *jsonFrames) members() (frame, error) {
	f := frame{enc: encJSON}
	typed := false
	for {
		tok, err := j.dec.ReadToken()
		if err != nil {
			return f, err
		}
		if tok.Kind() == '}' {
			break
		}
		switch tok.String() {
		case "type":
			var word jsontext.Value
			if word, err = j.dec.ReadValue(); err == nil {
				f.event, err = jsonEventType(word)
				typed = true
			}
		case "object":
			var obj jsontext.Value
			if obj, err = j.dec.ReadValue(); err == nil {
				j.scratch = append(j.scratch[:0], obj...)
				f.obj = j.scratch
			}
		default:
			err = j.dec.SkipValue()
		}
		if err != nil {
			return f, err
		}
	}
	switch {
	case !typed:
		return f, &DecodeError{Err: errors.New("it has no type")}
	case f.obj == nil:
		return f, &DecodeError{Err: errors.New("it has no object")}
	}
	return f, nil
}

func jsonEventType(word jsontext.Value) (EventType, error) {
	if word.Kind() != '"' {
		return 0, &DecodeError{Err: errors.New("its type isn't a string")}
	}
	text, err := jsontext.AppendUnquote(nil, word)
	if err != nil {
		return 0, &DecodeError{Err: err}
	}
	return eventType(text)
}
