package indexer

import (
	"fmt"
	"strconv"
	"strings"
)

// walkContent appends the values at the end of steps[at:], below a value of
// decoded JSON.
func walkContent(content any, steps []string, at int, vals []string) ([]string, *FieldError) {
	switch c := content.(type) {
	case nil:
		return vals, nil
	case map[string]any:
		if at == len(steps) {
			return nil, &FieldError{Reason: "is not a single value in this object; the path must go on"}
		}
		return walkContent(c[steps[at]], steps, at+1, vals)
	case []any:
		var err *FieldError
		for _, e := range c {
			if vals, err = walkContent(e, steps, at, vals); err != nil {
				return nil, err
			}
		}
		return vals, nil
	}
	if at < len(steps) {
		return nil, &FieldError{At: strings.Join(steps[:at], "."), Reason: "is a single value in this object and has nothing below it"}
	}
	switch c := content.(type) {
	case string:
		return appendString(c, vals), nil
	case bool:
		return append(vals, strconv.FormatBool(c)), nil
	case int64:
		return append(vals, strconv.FormatInt(c, 10)), nil
	case float64:
		return append(vals, formatFloat(c)), nil
	}
	return nil, &FieldError{Reason: fmt.Sprintf("a %T is not a value of decoded JSON", content)}
}
