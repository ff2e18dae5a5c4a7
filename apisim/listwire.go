package apisim

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeList streams a list. All items are encoded before the first byte is
// written: an encoding that fails is then a clean 500, and the protobuf form
// needs the total length first. The encodings stay with the revisions, so the
// list as a whole is never built.
func (s *Server) writeList(w http.ResponseWriter, r *http.Request, res *Resource, enc encoding, meta metav1.ListMeta, items []*revision) {
	if enc == encTable {
		s.writeTable(w, r, res, meta, items)
		return
	}
	size := 0
	for _, it := range items {
		b, err := it.bytes(enc)
		if err != nil {
			writeError(w, r, err)
			return
		}
		size += fieldLen(len(b))
	}
	kind, version := res.ListKind, res.apiVersion()
	if enc.partial() {
		kind, version = "PartialObjectMetadataList", metav1.SchemeGroupVersion.String()
	}

	w.Header().Set("Content-Type", mediaType(enc.proto(), false))
	out := s.newListWriter(w, r)
	defer out.close()
	switch {
	case enc.proto():
		writeProtoList(out, envelope{apiVersion: version, kind: kind}, enc, meta, items, size)
	case res.typed() || enc.partial():
		out.writeString(`{"kind":"` + kind + `","apiVersion":"` + version + `","metadata":`)
		out.writeString(listMetaJSON(meta))
		out.writeString(`,"items":[`)
		writeItems(out, enc, items)
		out.writeString("]}\n")
	default:
		// An unstructured list is written with its keys sorted: the RV and the
		// continue token follow the items.
		out.writeString(`{"apiVersion":"` + version + `","items":[`)
		writeItems(out, enc, items)
		out.writeString(`],"kind":"` + kind + `","metadata":` + unstructuredListMeta(meta) + "}\n")
	}
}

func writeItems(out *listWriter, enc encoding, items []*revision) {
	for i, it := range items {
		if i > 0 {
			out.writeString(",")
		}
		b, _ := it.bytes(enc) // cached and checked by the caller
		if _, err := out.Write(b); err != nil {
			return // the client is gone
		}
	}
}

func writeProtoList(out *listWriter, env envelope, enc encoding, meta metav1.ListMeta, items []*revision, size int) {
	m, _ := meta.Marshal() // strings and an integer: this cannot fail
	head := env.appendProtoHead(nil, fieldLen(len(m))+size)
	head = append(appendField(head, tagListMeta, len(m)), m...)
	_, _ = out.Write(head)
	var tag [16]byte
	for _, it := range items {
		b, _ := it.bytes(enc)
		_, _ = out.Write(appendField(tag[:0], tagListItems, len(b)))
		if _, err := out.Write(b); err != nil {
			return
		}
	}
	out.writeString(unknownTrailer)
}

func listMetaJSON(meta metav1.ListMeta) string {
	b, _ := json.Marshal(meta)
	return string(b)
}

// unstructuredListMeta has its keys sorted, and an empty continue token
// spelled out, as the real server writes it.
func unstructuredListMeta(meta metav1.ListMeta) string {
	b := append([]byte(`{"continue":`), mustJSON(meta.Continue)...)
	if meta.RemainingItemCount != nil {
		b = append(b, `,"remainingItemCount":`...)
		b = strconv.AppendInt(b, *meta.RemainingItemCount, 10)
	}
	b = append(b, `,"resourceVersion":`...)
	b = append(b, mustJSON(meta.ResourceVersion)...)
	return string(append(b, '}'))
}

func mustJSON(s string) []byte {
	b, _ := json.Marshal(s) // a string cannot fail
	return b
}
