package indexer

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// way is one compiled step: to a struct's field, or else to a map's value.
// Pointers and lists on the way need no step.
type way struct {
	field int
	key   reflect.Value // valid for a map
}

// typedPath is a path compiled for one type.
type typedPath struct {
	ways     []way
	marshals bool // the value at the end knows its own JSON
}

// compileSteps finds the steps in a type by its JSON names.
func compileSteps(typ reflect.Type, steps []string) (*typedPath, *FieldError) {
	var ways []way
	at := func(n int) string { return strings.Join(steps[:n], ".") }
	for i, step := range steps {
		typ = elem(typ)
		switch {
		case i > 0 && isValue(typ):
			return nil, &FieldError{At: at(i), Reason: "is a single value and has nothing below it"}
		case typ.Kind() == reflect.Struct:
			found, next, ok := fieldByJSONName(typ, step, maxEmbedded)
			if !ok {
				return nil, &FieldError{At: at(i + 1), Reason: "there is no such field", Known: jsonNames(typ, maxEmbedded)}
			}
			ways, typ = append(ways, found...), next
		case typ.Kind() == reflect.Map && typ.Key().Kind() == reflect.String:
			ways = append(ways, way{key: reflect.ValueOf(step).Convert(typ.Key())})
			typ = typ.Elem()
		default:
			return nil, &FieldError{At: at(i), Reason: "a " + typ.String() + " can't be looked into"}
		}
	}
	if typ = elem(typ); isValue(typ) {
		return &typedPath{ways, marshals(typ)}, nil
	}
	err := &FieldError{At: at(len(steps)), Reason: "is not a single value; the path must go on"}
	if typ.Kind() == reflect.Struct {
		err.Known = jsonNames(typ, maxEmbedded)
	}
	return nil, err
}

// elem takes off pointers and lists.
func elem(typ reflect.Type) reflect.Type {
	for !isValue(typ) && (typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Array) {
		typ = typ.Elem()
	}
	return typ
}

// isValue reports whether a path can end at a type.
func isValue(typ reflect.Type) bool {
	switch typ.Kind() {
	case reflect.Pointer:
		return false // asked again of what it points to
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return true // bytes
		}
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return marshals(typ)
}

func marshals(typ reflect.Type) bool {
	return reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]())
}

// maxEmbedded is how deep embedded structs are looked into: a type may embed a
// pointer to itself.
const maxEmbedded = 8

// fieldByJSONName finds a field, if need be through the embedded structs that
// JSON flattens.
func fieldByJSONName(typ reflect.Type, name string, depth int) ([]way, reflect.Type, bool) {
	var embedded []reflect.StructField
	for i := range typ.NumField() {
		f := typ.Field(i)
		switch n, ok := jsonName(f); {
		case ok && n == name:
			return []way{{field: i}}, f.Type, true
		case ok && n == "":
			embedded = append(embedded, f)
		}
	}
	if depth == 0 {
		return nil, nil, false
	}
	for _, f := range embedded {
		if ways, found, ok := fieldByJSONName(structOf(f), name, depth-1); ok {
			return append([]way{{field: f.Index[0]}}, ways...), found, true
		}
	}
	return nil, nil, false
}

func jsonNames(typ reflect.Type, depth int) []string {
	var names []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		switch n, ok := jsonName(f); {
		case ok && n != "":
			names = append(names, n)
		case ok && depth > 0:
			names = append(names, jsonNames(structOf(f), depth-1)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// jsonName is a field's name in JSON: "" if the field is flattened, false if
// it is not there.
func jsonName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-":
		return "", false
	case name == "" && f.Anonymous && structOf(f).Kind() == reflect.Struct:
		return "", true // exported or not
	case !f.IsExported():
		return "", false
	case name == "":
		return f.Name, true
	}
	return name, true
}

// structOf is the type of an embedded field without its pointer.
func structOf(f reflect.StructField) reflect.Type {
	if f.Type.Kind() == reflect.Pointer {
		return f.Type.Elem()
	}
	return f.Type
}

// read appends the values at the end of the ways below v.
func (p *typedPath) read(v reflect.Value, ways []way, vals []string) ([]string, *FieldError) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return vals, nil
		}
		v = v.Elem()
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && !isValue(v.Type()) {
		var err *FieldError
		for i := range v.Len() {
			if vals, err = p.read(v.Index(i), ways, vals); err != nil {
				return nil, err
			}
		}
		return vals, nil
	}
	switch {
	case len(ways) == 0 && p.marshals:
		return appendMarshaled(v, vals)
	case len(ways) == 0:
		return appendText(v, vals), nil
	case ways[0].key.IsValid():
		if v = v.MapIndex(ways[0].key); !v.IsValid() {
			return vals, nil
		}
	default:
		v = v.Field(ways[0].field)
	}
	return p.read(v, ways[1:], vals)
}

// appendText appends a value as JSON writes it, without quotes.
func appendText(v reflect.Value, vals []string) []string {
	switch {
	case v.Kind() == reflect.String:
		return appendString(v.String(), vals)
	case v.Kind() == reflect.Slice:
		return appendString(base64.StdEncoding.EncodeToString(v.Bytes()), vals)
	case v.Kind() == reflect.Bool:
		return append(vals, strconv.FormatBool(v.Bool()))
	case v.CanInt():
		return append(vals, strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return append(vals, strconv.FormatUint(v.Uint(), 10))
	default:
		return append(vals, formatFloat(v.Float()))
	}
}

func appendMarshaled(v reflect.Value, vals []string) ([]string, *FieldError) {
	if !v.CanAddr() { // the method may be the pointer's
		at := reflect.New(v.Type()).Elem()
		at.Set(v)
		v = at
	}
	text, err := v.Addr().Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return nil, &FieldError{Reason: "can't be written as JSON: " + err.Error()}
	}
	switch {
	case string(text) == "null":
		return vals, nil
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return nil, &FieldError{Reason: "is not a single value in this object"}
	case len(text) > 0 && text[0] == '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, &FieldError{Reason: "can't be written as JSON: " + err.Error()}
		}
		return appendString(s, vals), nil
	}
	return append(vals, string(text)), nil
}

func appendString(s string, vals []string) []string {
	if s == "" {
		return vals
	}
	return append(vals, s)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
