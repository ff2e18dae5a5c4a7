package apisim

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// encTable is the form that kubectl prints: rows of cells. It is not cached
// with the object, since a cell shows an age.
const encTable = numEncodings

// tableForm says how to make tables for one request.
type tableForm struct {
	res     *Resource
	include metav1.IncludeObjectPolicy // what of the object goes into a row
	headed  bool                       // a watch has sent the columns already
}

func newTableForm(r *http.Request, res *Resource) (*tableForm, error) {
	include := metav1.IncludeObjectPolicy(r.URL.Query().Get("includeObject"))
	switch include {
	case metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
	case "":
		include = metav1.IncludeMetadata
	default:
		return nil, apierrors.NewBadRequest(`Unable to convert to Table as requested: includeObject: Invalid value: "` + string(include) + `": must be 'Metadata', 'Object', 'None', or empty`)
	}
	return &tableForm{res: res, include: include}, nil
}

// appendHead appends a table up to its rows.
func (f *tableForm) appendHead(b []byte, meta metav1.ListMeta) ([]byte, error) {
	b = append(b, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":`...)
	b = append(b, listMetaJSON(meta)...)
	b = append(b, `,"columnDefinitions":`...)
	if f.headed {
		b = append(b, "null"...)
	} else {
		columns, err := marshalJSON(f.res.columns())
		if err != nil {
			return nil, err
		}
		b = append(b, columns...)
	}
	return append(b, `,"rows":[`...), nil
}

const tableTail = "]}"

// appendRow appends the row of an object.
func (f *tableForm) appendRow(b []byte, o *body) ([]byte, error) {
	row := f.res.row(o.obj)
	cells, err := marshalJSON(row.Cells)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `{"cells":`...), cells...)
	if len(row.Conditions) > 0 {
		conditions, err := marshalJSON(row.Conditions)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"conditions":`...), conditions...)
	}
	b = append(b, `,"object":`...)
	enc := encPartialJSON
	switch f.include {
	case metav1.IncludeNone:
		return append(b, "null}"...), nil
	case metav1.IncludeObject:
		enc = encJSON
	}
	object, err := o.bytes(enc)
	if err != nil {
		return nil, err
	}
	b = f.res.envelope(enc).append(b, enc, object)
	return append(b, '}'), nil
}

// one returns the table of a single object, as a get or a watch event shows it.
func (f *tableForm) one(o *body) ([]byte, error) {
	b, err := f.appendHead(nil, metav1.ListMeta{ResourceVersion: o.obj.(metav1.Object).GetResourceVersion()})
	if err == nil {
		b, err = f.appendRow(b, o)
	}
	return append(b, tableTail...), err
}

// writeTable answers a list.
func (s *Server) writeTable(w http.ResponseWriter, r *http.Request, res *Resource, meta metav1.ListMeta, items []*revision) {
	form, err := newTableForm(r, res)
	var b []byte
	if err == nil {
		b, err = form.appendHead(nil, meta)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", jsonMedia)
	out := s.newListWriter(w, r)
	defer out.close()
	for i, it := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = form.appendRow(b, &it.body); err != nil {
			// As on the real server, a Status ends what cannot be ended well.
			tail, _ := encodeStatus(statusOf(err), false)
			_, _ = out.Write(tail)
			return
		}
		if _, err := out.Write(b); err != nil {
			return // the client is gone
		}
		b = b[:0]
	}
	_, _ = out.Write(append(b, tableTail+"\n"...))
}

// columns describes the cells of the resource's rows.
func (r *Resource) columns() []metav1.TableColumnDefinition {
	name := metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: "The name of the object."}
	age := metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: "The time since the object was created."}
	switch {
	case r.isPod():
		return podColumns(name, age)
	case !r.typed():
		age.Type = "date"
	}
	return []metav1.TableColumnDefinition{name, age}
}

func (r *Resource) row(obj runtime.Object) metav1.TableRow {
	if r.isPod() {
		return podRow(obj)
	}
	m := obj.(metav1.Object)
	return metav1.TableRow{Cells: []any{m.GetName(), age(m.GetCreationTimestamp())}}
}

// age is a time as kubectl shows it.
func age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}
